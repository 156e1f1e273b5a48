// Package service is the wing of what the program does: each package has one part of the API, asks who may, and reads
// and writes by the data. It imports base, pure and data. The packages of deployments are below service/deployment.
package service
