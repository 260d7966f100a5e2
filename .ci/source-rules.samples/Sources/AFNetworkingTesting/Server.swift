import AFLoop  // expect: imports
import CAFTestServer

func host(of url: URL) -> String? { url.host }
func shout(_ text: String) -> String { text.uppercased() }
func accept(_ fd: Int32) { _ = Glibc.accept(fd, nil, nil) }
