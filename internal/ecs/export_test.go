package ecs

// Members is members.
var Members = members
