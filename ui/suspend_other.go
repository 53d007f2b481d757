//go:build !linux && !darwin

package ui

import tea "charm.land/bubbletea/v2"

// jobs are the signals of job control, which this system does not have or Bubble Tea knows.
type jobs struct{}

func (j *jobs) away() bool { return false }

func (s *signals) watchJobs() {}

func (s *signals) suspend() tea.Cmd { return tea.Suspend }
