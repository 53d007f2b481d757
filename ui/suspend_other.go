//go:build !linux && !darwin

package ui

import tea "charm.land/bubbletea/v2"

// jobs does nothing: these systems have no job control, or Bubble Tea handles it.
type jobs struct{}

func (j *jobs) away() bool { return false }

func (s *signals) watchJobs() {}

func (s *signals) suspend() tea.Cmd { return tea.Suspend }
