//go:build !linux && !darwin

package ui

import tea "charm.land/bubbletea/v2"

// jobs does nothing: this system has no job control, or Bubble Tea suspends the program (tea.Suspend).
type jobs struct{}

func (j *jobs) away() bool { return false }

func (s *signals) watchJobs() {}

func (s *signals) suspend() tea.Cmd { return tea.Suspend }
