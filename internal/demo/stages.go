package demo

// The stages that endings name.
const (
	scaleUp         = "SCALE_UP"
	testShift       = "TEST_TRAFFIC_SHIFT"
	productionShift = "PRODUCTION_TRAFFIC_SHIFT"
	bakeTime        = "BAKE_TIME"
	cleanUp         = "CLEAN_UP"
)

// stage is a part of a deployment's course.
type stage struct {
	name, message string
	// from and to are how long it takes, in seconds.
	from, to int
	// hook marks stages in which a hook of the service runs, where it has hooks.
	hook bool
	// running is the share of the new tasks that run, test and production that of the traffic which the
	// new revision gets; all in percent.
	running, test, production int32
}

// courses are the stages of each strategy, in order.
var courses = map[string][]stage{
	blue: {
		{name: "RECONCILE_SERVICE", message: "Comparing the service with the new revision", from: 3, to: 12},
		{name: "PRE_SCALE_UP", message: "Running the database migrations", from: 20, to: 60, hook: true},
		{name: scaleUp, message: "Starting the tasks of the new revision", from: 50, to: 110, running: 50},
		{name: "POST_SCALE_UP", message: "Checking the health of the new tasks", from: 10, to: 30, running: 100},
		{name: testShift, message: "Moving the test traffic to the new revision", from: 30, to: 90, hook: true, running: 100, test: 100},
		{name: productionShift, message: "Moving the production traffic to the new revision", from: 15, to: 60, running: 100, test: 100, production: 100},
		{name: bakeTime, message: "Watching the alarms while both revisions run", from: 60, to: 300, running: 100, test: 100, production: 100},
		{name: cleanUp, message: "Stopping the tasks of the old revision", from: 30, to: 80, running: 100, test: 100, production: 100},
	},
	rolling: {
		{name: "RECONCILE_SERVICE", message: "Comparing the service with the new revision", from: 3, to: 12},
		{name: scaleUp, message: "Replacing the tasks", from: 50, to: 110, running: 50, production: 50},
		{name: bakeTime, message: "Watching the alarms", from: 60, to: 120, running: 100, production: 100},
		{name: cleanUp, message: "Stopping the tasks of the old revision", from: 20, to: 60, running: 100, production: 100},
	},
}
