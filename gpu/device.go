package gpu

import "specula/gpu/driver"

// device is the part of gpu/driver that the backend uses. Tests put another device in its place.
//
// Do, Submit, Info and Close may be called from any goroutine. Call every other method on the
// device's thread, inside a function given to Do or Submit. The methods that queue work on a stream do not
// wait for it. Wait, WaitHost, Upload, Download, Free and Close wait for queued work.
type device interface {
	Info() driver.Info
	Do(f func() error) error
	Submit(f func())
	Close() error

	Memory() (freeBytes, totalBytes int64, err error)
	Alloc(bytes int64) (driver.Pointer, error)
	Free(p driver.Pointer) error
	AllocHost(bytes int) ([]byte, error)
	FreeHost(memory []byte) error

	Upload(s driver.Stream, to driver.Pointer, from []byte) error
	Download(s driver.Stream, to []byte, from driver.Pointer) error
	UploadAsync(s driver.Stream, to driver.Pointer, from []byte) error
	DownloadAsync(s driver.Stream, to []byte, from driver.Pointer) error
	Copy(s driver.Stream, to, from driver.Pointer, bytes int64) error
	Fill(s driver.Stream, to driver.Pointer, value byte, bytes int64) error
	Traffic() driver.Traffic

	NewStream() (driver.Stream, error)
	FreeStream(s driver.Stream) error
	Wait(s driver.Stream) error
	NewEvent(timed bool) (driver.Event, error)
	FreeEvent(e driver.Event) error
	Record(e driver.Event, s driver.Stream) error
	WaitEvent(s driver.Stream, e driver.Event) error
	WaitHost(e driver.Event) error
	Elapsed(from, to driver.Event) (ms float64, err error)

	Load(name, ptx string) (driver.Module, error)
	LoadCode(name string, code []byte) (driver.Module, error)
	Unload(m driver.Module) error
	Kernel(m driver.Module, name string) (driver.Function, error)
	SetDynamicShared(f driver.Function, bytes int) error
	BlocksAtOnce(f driver.Function, shape driver.Shape) (int, error)
	Prepare(f driver.Function, shape driver.Shape, arguments ...driver.Argument) (driver.Launch, error)
	Reshape(l driver.Launch, shape driver.Shape)
	Set(l driver.Launch, i int, value driver.Argument)
	Run(l driver.Launch, s driver.Stream) error
	FreeLaunch(l driver.Launch)

	Capture(s driver.Stream, record func() error) (driver.Graph, error)
	Replay(g driver.Graph, s driver.Stream) error
	FreeGraph(g driver.Graph) error
}
