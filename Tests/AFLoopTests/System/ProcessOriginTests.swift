import AFFaults
import CAFLinux
import Foundation
import Glibc
import Testing

@testable import AFLoop

@Suite("Whose process this is")
struct ProcessOriginTests {
    @Test func `the home is that of the list of users, whatever the environment says`() async throws {
        await #expect(processExitsWith: .success) {
            let entry = try #require(getpwuid(geteuid()))
            let home = String(cString: entry.pointee.pw_dir)
            setenv("HOME", "/elsewhere", 1)
            #expect(ProcessOrigin.homeOfUser() == home)
        }
    }

    @Test func `the program is known by the path of its file`() throws {
        let path = try #require(ProcessOrigin.pathOfProgram())
        #expect(path.hasPrefix("/") && access(path, X_OK) == 0)
    }

    @Test func `a program that the system does not tell of is none`() async {
        await #expect(processExitsWith: .success) {
            for code in [ENOENT, EACCES] {
                FaultInjector.failNext(CAF_CALL_INQUIRE, with: code)
                #expect(ProcessOrigin.pathOfProgram() == nil)
            }
            #expect(ProcessOrigin.pathOfProgram() != nil)
        }
    }
}
