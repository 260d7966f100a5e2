import Glibc

@testable import AFURLSession

/// The folder for temporary files.
@Suite struct TemporaryFolderTests {
    @Test func `a plain one is that of Foundation, found without it`() async {
        await #expect(processExitsWith: .success) {
            for value in ["/tmp", "/tmp/", "/var/tmp/a-b_C9/x", "/a", "/0/"] {
                setenv("TMPDIR", value, 1)
                #expect(SessionSettings.plainFolder(value) == FileManager.default.temporaryDirectory.path)
            }
            unsetenv("TMPDIR")
            #expect(SessionSettings.plainFolder(nil) == FileManager.default.temporaryDirectory.path)
        }
    }

    @Test(arguments: ["", "/", "//", "tmp", "//tmp", "/a//b", "/a/../b", "/a.b", "/a b", "/ä", "/a%20b", "/\u{FFFD}"])
    func `of others Foundation says where they are`(value: String) {
        #expect(SessionSettings.plainFolder(value) == nil)
    }
}
