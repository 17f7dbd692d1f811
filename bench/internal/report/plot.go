package report

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/goverbs/goverbs/bench/internal/subject"
)

// lines is what the plot shows, with colours that can be told apart without
// seeing all colours.
var lines = []struct {
	impl  string
	color color.RGBA
	shape draw.GlyphDrawer
}{
	{subject.C, color.RGBA{0, 0, 0, 255}, draw.CircleGlyph{}},
	{subject.Goverbs, color.RGBA{0, 114, 178, 255}, draw.CrossGlyph{}},
	{subject.Cgo, color.RGBA{0, 158, 115, 255}, draw.TriangleGlyph{}},
	{subject.CgoTyped, color.RGBA{230, 159, 0, 255}, draw.SquareGlyph{}},
	{subject.Purego, color.RGBA{204, 121, 167, 255}, draw.PyramidGlyph{}},
	{subject.CgoMarshal, color.RGBA{213, 94, 0, 255}, draw.RingGlyph{}},
}

// Plot draws what a post of receives costs on a device by the length of the
// chain, as SVG.
func (s *Samples) Plot(w io.Writer, device string) error {
	_, numbers := s.numbers(device, subject.PostRecv)
	if len(numbers) == 0 {
		return fmt.Errorf("plot: no %s was measured on %s", subject.PostRecv, device)
	}
	plot.DefaultFont.Typeface, plot.DefaultFont.Variant = "Liberation", "Sans"
	p := plot.New()
	p.Title.Text = "ibv_post_recv on " + device + ": what one post costs"
	p.Title.Padding = vg.Points(8)
	p.X.Label.Text = "receives in the chain"
	p.Y.Label.Text = "nanoseconds for a post"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker = labels(numbers)
	p.Y.Tick.Marker = plot.ConstantTicks(ticks(5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000))
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.Padding = vg.Points(2)
	p.Add(plotter.NewGrid())
	for _, l := range lines {
		var points plotter.XYs
		for _, n := range numbers {
			if ns, ok := s.median(key{device, subject.PostRecv, l.impl, "wr", n}); ok {
				points = append(points, plotter.XY{X: float64(n), Y: ns})
			}
		}
		if len(points) == 0 {
			continue
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return fmt.Errorf("plot: %w", err)
		}
		line.Color, line.Width = l.color, vg.Points(1.5)
		marks.Color, marks.Shape, marks.Radius = l.color, l.shape, vg.Points(3)
		p.Add(line, marks)
		p.Legend.Add(l.impl, line, marks)
	}
	p.Y.Min = math.Min(p.Y.Min, 5)
	p.X.Max *= 1.2 // room for the last label
	canvas, err := p.WriterTo(16*vg.Centimeter, 10*vg.Centimeter, "svg")
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	if _, err := canvas.WriteTo(w); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

func labels(numbers []int) plot.ConstantTicks {
	values := make([]float64, len(numbers))
	for i, n := range numbers {
		values[i] = float64(n)
	}
	return plot.ConstantTicks(ticks(values...))
}

func ticks(values ...float64) []plot.Tick {
	t := make([]plot.Tick, len(values))
	for i, v := range values {
		t[i] = plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', -1, 64)}
	}
	return t
}
