package attacktest_test

func bodies() []attack   { return nil }
func requests() []attack { return nil }
func inputs() []attack   { return nil }
func sockets() []attack  { return nil }
func streams() []attack  { return nil }
func slow() []attack     { return nil }
