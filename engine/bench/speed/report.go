package speed

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"specula/engine/compute"
)

// Matched returns true: nothing is compared here.
func (k *Kernels) Matched() bool { return true }

// WriteTable writes the measurements for people.
func (k *Kernels) WriteTable(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s: %s\n\n", k.Model, k.Device, k.Detail)
	c := &k.Ceilings
	fmt.Fprintf(&b, "This machine at most: reads %s GB/s; multiplies and adds %s G floats/s, %s G bytes/s.\n\n",
		giga(c.ReadBytesPerS), giga(c.FloatMulPerS), giga(c.IntegerMulPerS))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "type\trows\tcols\tm\tµs\tGB/s\tof reading\tG mul/s\tof peak\t")
	for i := range k.Products {
		p := &k.Products[i]
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.1f\t%s\t%s\t%s\t%s\t\n", p.Type, p.Rows, p.Cols, p.M, p.US,
			giga(p.Bytes), share(p.OfReading, min(c.ReadBytesPerS, 1)), giga(p.Muls), share(p.Muls, peak(c, p)))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\nA pass of m rows after %d tokens, and how long a thread waited in it for the others:\n", k.ContextTokens)
	fmt.Fprintln(t, "m\tms\tof one row\twaiting\texperts read\t")
	for _, v := range k.Verifications {
		experts := "–"
		if v.Experts > 0 {
			experts = fmt.Sprintf("%.1f", v.Experts)
		}
		fmt.Fprintf(t, "%d\t%.2f\t%.2f\t%s\t%s\t\n", v.M, v.MS, v.Ratio, share(v.WaitingMS, v.MS), experts)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// peak returns the ceiling of arithmetic for a product.
func peak(c *compute.Ceilings, p *Product) float64 {
	if p.Integers {
		return c.IntegerMulPerS
	}
	return c.FloatMulPerS
}

func giga(perS float64) string {
	if perS == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", perS/1e9)
}

func share(part, whole float64) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100*part/whole)
}
