//go:build !linux

package cpu

import "time"

func sleepThread(d time.Duration) { time.Sleep(d) }
