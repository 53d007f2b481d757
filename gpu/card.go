package gpu

import (
	"fmt"

	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// checkCard returns an error if a card or its driver is too old for the embedded kernels. The error
// wraps ErrNoDevice, so that such a card is treated like none: with the device auto, the processor takes its
// place, and the error is shown as the reason (Choose in engine/host/choose.go).
func checkCard(i driver.Info) error {
	if have := 10*i.Major + i.Minor; have < cuda.NeedsCapability {
		return fmt.Errorf("%w that can be used: %s has compute capability %d.%d, and the kernels need %d.%d (Ampere: RTX 30, A100) or newer",
			ErrNoDevice, i.Name, i.Major, i.Minor, cuda.NeedsCapability/10, cuda.NeedsCapability%10)
	}
	if i.Version < cuda.NeedsCUDA {
		return fmt.Errorf("%w that can be used: the driver of %s supports CUDA %d.%d, and the kernels need %d.%d (driver R470) or newer: update the driver",
			ErrNoDevice, i.Name, i.Version/1000, i.Version%1000/10, cuda.NeedsCUDA/1000, cuda.NeedsCUDA%1000/10)
	}
	return nil
}
