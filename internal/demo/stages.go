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
	from, to float64
	// hook marks stages in which a hook of the service runs, if it has hooks.
	hook bool
	share
}

// share is how much there is of a new revision, in percent: of its tasks that run, and of the traffic that
// it gets.
type share struct{ running, test, production int32 }

// towards is where one is after so many parts of the way to another share.
func (s share) towards(to share, part, parts int) share {
	between := func(a, b int32) int32 { return a + (b-a)*int32(part)/int32(parts) }
	return share{between(s.running, to.running), between(s.test, to.test), between(s.production, to.production)}
}

// courses are the stages of each strategy, in order.
var courses = map[string][]stage{
	blue: {
		{name: "RECONCILE_SERVICE", message: "Comparing the service with the new revision", from: 3, to: 12},
		{name: "PRE_SCALE_UP", message: "Running the database migrations", from: 20, to: 60, hook: true},
		{name: scaleUp, message: "Starting the tasks of the new revision", from: 50, to: 110, share: share{50, 0, 0}},
		{name: "POST_SCALE_UP", message: "Checking the health of the new tasks", from: 10, to: 30, share: share{100, 0, 0}},
		{
			name: testShift, message: "Moving the test traffic to the new revision", from: 30, to: 90, hook: true,
			share: share{100, 100, 0},
		},
		{
			name: productionShift, message: "Moving the production traffic to the new revision", from: 15, to: 60,
			share: share{100, 100, 100},
		},
		{
			name: bakeTime, message: "Watching the alarms while both revisions run", from: 60, to: 300,
			share: share{100, 100, 100},
		},
		{name: cleanUp, message: "Stopping the tasks of the old revision", from: 30, to: 80, share: share{100, 100, 100}},
	},
	rolling: {
		{name: "RECONCILE_SERVICE", message: "Comparing the service with the new revision", from: 3, to: 12},
		{name: scaleUp, message: "Replacing the tasks", from: 50, to: 110, share: share{100, 0, 100}},
		{name: bakeTime, message: "Watching the alarms", from: 60, to: 120, share: share{100, 0, 100}},
		{name: cleanUp, message: "Stopping the tasks of the old revision", from: 20, to: 60, share: share{100, 0, 100}},
	},
}
