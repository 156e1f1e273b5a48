package feed_test

import (
	"sync"
	"testing"

	"slipway/internal/feed"
)

func woken(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestFollowersOfTheDeploymentAreWoken(t *testing.T) {
	t.Parallel()
	var f feed.Feed
	f.Changed("dep_1") // nobody follows it yet
	first, stopFirst := f.Follow("dep_1")
	second, stopSecond := f.Follow("dep_1")
	other, stopOther := f.Follow("dep_2")
	defer stopSecond()
	defer stopOther()
	if woken(first) || woken(second) || woken(other) {
		t.Error("woken before anything has changed")
	}
	f.Changed("dep_1")
	if !woken(first) || !woken(second) || woken(other) {
		t.Error("not exactly those of the deployment are woken")
	}
	stopFirst()
	f.Changed("dep_1")
	if woken(first) || !woken(second) {
		t.Error("not exactly those who have stayed are woken")
	}
	stopFirst() // once more does no harm
	f.Changed("dep_2")
	if !woken(other) || woken(second) {
		t.Error("not exactly those of the other deployment are woken")
	}
}

func TestChangesThatNobodyWaitsForComeAsOne(t *testing.T) {
	t.Parallel()
	var f feed.Feed
	c, stop := f.Follow("dep_1")
	defer stop()
	for range 1000 {
		f.Changed("dep_1")
	}
	if !woken(c) || woken(c) {
		t.Error("not woken exactly once")
	}
}

func TestNoChangeIsMissedBesideOthersThatComeAndGo(t *testing.T) {
	t.Parallel()
	var f feed.Feed
	var done, all sync.WaitGroup
	stopped := make(chan struct{})
	for range 4 {
		all.Go(func() {
			for {
				select {
				case <-stopped:
					return
				default:
					_, stop := f.Follow("dep_1")
					stop()
				}
			}
		})
	}
	for range 8 {
		c, stop := f.Follow("dep_1")
		ready := make(chan struct{})
		done.Go(func() {
			defer stop()
			for range 200 {
				<-c
				ready <- struct{}{}
			}
		})
		done.Go(func() {
			for range 200 {
				f.Changed("dep_1")
				<-ready
			}
		})
	}
	done.Wait()
	close(stopped)
	all.Wait()
}
