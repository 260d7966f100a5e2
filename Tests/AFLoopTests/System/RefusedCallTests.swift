import AFFaults
import CAFLinux
import Glibc
import Testing

@Suite("Refused system calls")
struct RefusedCallTests {
    /// Calls, of which kind they are and on which descriptor; `none` is not open.
    private static func rows(_ none: Int32) -> [(kind: caf_call, descriptor: Int32, make: () -> Int)] {
        var bytes = [UInt8](repeating: 0, count: 64)
        var status = caf_file_status()
        var space: Int64 = 0
        var slice = iovec()
        var address = sockaddr_storage()
        var length = socklen_t()
        var sender: UInt32 = 0
        var flag = false
        return [
            (CAF_CALL_OPEN, -1, { Int(caf_open_folder("/")) }),
            (CAF_CALL_OPEN, -1, { Int(caf_open_folder_at(none, "x")) }),
            (CAF_CALL_MAKE_FOLDER, -1, { Int(caf_open_own_folder(none, "x")) }),
            (CAF_CALL_OPEN, -1, { Int(caf_for_each_name(none, { _, _ in }, nil)) }),
            (CAF_CALL_OPEN, -1, { Int(caf_create_file(none, "x", &flag)) }),
            (CAF_CALL_OPEN, -1, { Int(caf_create_named_file(none, "x")) }),
            (CAF_CALL_OPEN, -1, { Int(caf_open_file(none, "x")) }),
            (CAF_CALL_OPEN, -1, { Int(caf_open_file_for_reading(none, "x")) }),
            (CAF_CALL_OPEN, -1, { Int(caf_open_for_reading("/")) }),
            (CAF_CALL_FSTAT, none, { Int(caf_file_status_of(none, &status)) }),
            (CAF_CALL_FSTAT, -1, { Int(caf_file_status_at(none, "x", &status)) }),
            (CAF_CALL_FSTAT, none, { Int(caf_free_space(none, &space)) }),
            (CAF_CALL_INQUIRE, none, { caf_attribute(none, "user.x", &bytes, 8) }),
            (CAF_CALL_INQUIRE, none, { Int(caf_set_attribute(none, "user.x", bytes, 8)) }),
            (CAF_CALL_INQUIRE, none, { Int(caf_remove_attribute(none, "user.x")) }),
            (CAF_CALL_INQUIRE, -1, { caf_path_of_program(&bytes, 64) }),
            (CAF_CALL_PREAD, none, { caf_read_at(none, &bytes, 8, 0) }),
            (CAF_CALL_PREAD, none, { caf_read_at_without_waiting(none, &bytes, 8, 0) }),
            (CAF_CALL_PWRITE, none, { caf_write_slices(none, &slice, 1, 0) }),
            (CAF_CALL_TRUNCATE, none, { Int(caf_truncate(none, 0)) }),
            (CAF_CALL_ALLOCATE, none, { Int(caf_allocate(none, 1)) }),
            (CAF_CALL_SYNC, none, { Int(caf_sync(none)) }),
            (CAF_CALL_LINK, none, { Int(caf_link_file(none, none, "x")) }),
            (CAF_CALL_RENAME, -1, { Int(caf_rename(none, "x", "y")) }),
            (CAF_CALL_RENAME, -1, { Int(caf_replace(none, "x", "y")) }),
            (CAF_CALL_RENAME, -1, { Int(caf_move(none, "x", none, "y", true)) }),
            (CAF_CALL_RENAME, -1, { Int(caf_move(none, "x", none, "y", false)) }),
            (CAF_CALL_UNLINK, -1, { Int(caf_unlink(none, "x")) }),
            (CAF_CALL_UNLINK, -1, { Int(caf_remove_folder(none, "x")) }),
            (CAF_CALL_LOCK, none, { Int(caf_lock_file(none)) }),
            (CAF_CALL_RANDOM, -1, { Int(caf_random(&bytes, 8)) }),
            (CAF_CALL_SOCKET, -1, { Int(caf_socket_stream(AF_INET)) }),
            (CAF_CALL_SOCKET, -1, { Int(caf_netlink_open()) }),
            (CAF_CALL_SOCKET, -1, { Int(caf_netlink_watch()) }),
            (CAF_CALL_GETSOCKOPT, none, { Int(caf_take_socket_error(none)) }),
            (CAF_CALL_GETSOCKNAME, none, { Int(caf_local_address(none, &address, &length)) }),
            (CAF_CALL_RECV, none, { caf_recv(none, &bytes, 8) }),
            (CAF_CALL_RECV, none, { caf_netlink_receive(none, &bytes, 8, &sender, &flag) }),
            (CAF_CALL_RECV, none, { Int(caf_netlink_take_change(none)) }),
            (CAF_CALL_SEND, none, { caf_send(none, bytes, 8, bytes, 8) }),
            (CAF_CALL_SEND, none, { Int(caf_eventfd_signal(none)) }),
            (CAF_CALL_SHUTDOWN, none, { Int(caf_shutdown_write(none)) }),
            (CAF_CALL_SETSOCKOPT, none, { Int(caf_no_delay(none)) }),
            (CAF_CALL_SETSOCKOPT, none, { Int(caf_keep_alive(none, 1, 1, 1, 1)) }),
            (CAF_CALL_SETSOCKOPT, none, { Int(caf_bind_source(none, AF_INET, "lo")) }),
            (CAF_CALL_EPOLL_CREATE, -1, { Int(caf_epoll_create()) }),
            (CAF_CALL_EPOLL_CTL, none, { Int(caf_epoll_add(none, none, 1)) }),
            (CAF_CALL_EPOLL_CTL, none, { Int(caf_epoll_remove(none, none)) }),
            (CAF_CALL_EVENTFD, -1, { Int(caf_eventfd()) }),
        ]
    }

    @Test func `an interrupted call is made again, and a refused one gives its error and nothing more is done`() async {
        await #expect(processExitsWith: .success) {
            for (number, row) in Self.rows(999).enumerated() {
                let (result, calls) = PlayedKernel.play([(row.kind, EINTR), (row.kind, EPERM)], row.make)
                #expect(result == -Int(EPERM) && calls.map(\.kind) == [row.kind, row.kind], "row \(number)")
                #expect(calls.allSatisfy { $0.descriptor == row.descriptor && $0 == calls[0] }, "row \(number)")
            }
        }
    }

    @Test func `what fails leaves what the caller has as it was`() async {
        await #expect(processExitsWith: .success) {
            var status = caf_file_status()
            status.size = 77
            var space: Int64 = 77
            #expect(PlayedKernel.refuse(CAF_CALL_FSTAT, EPERM) { caf_file_status_of(999, &status) } == -EPERM)
            #expect(PlayedKernel.refuse(CAF_CALL_FSTAT, EPERM) { caf_file_status_at(999, "x", &status) } == -EPERM)
            #expect(PlayedKernel.refuse(CAF_CALL_FSTAT, EPERM) { caf_free_space(999, &space) } == -EPERM)
            #expect(status.size == 77 && space == 77)
        }
    }

    @Test func `a close that is said to fail has closed, and one that fails says so`() async {
        await #expect(processExitsWith: .success) {
            let other = caf_open_for_reading("/dev/null")
            // So high that no other thread of this process gets the number meanwhile.
            let file = fcntl(other, F_DUPFD_CLOEXEC, 500)
            #expect(PlayedKernel.refuse(CAF_CALL_CLOSE, EIO) { caf_close(file) } == -EIO)
            #expect(fcntl(file, F_GETFD) == -1 && caf_close(file) == -EBADF && caf_close(other) == 0)
        }
    }

    @Test func `clock, thread and names answer as they are told, and few random bytes are none`() async {
        await #expect(processExitsWith: .success) {
            var list: UnsafeMutablePointer<addrinfo>?
            #expect(PlayedKernel.refuse(CAF_CALL_CLOCK, 0) { caf_monotonic_nanoseconds() } == -1)
            #expect(PlayedKernel.refuse(CAF_CALL_THREAD, 7) { caf_start_thread("x", 1, { _ in }, nil) } == -7)
            #expect(PlayedKernel.refuse(CAF_CALL_GETADDRINFO, 7) { caf_getaddrinfo("x", &list) } == -7)
            var bytes = [UInt8](repeating: 0, count: 8)
            for few in [0, -5] as [Int32] {
                #expect(PlayedKernel.refuse(CAF_CALL_RANDOM, few) { caf_random(&bytes, 8) } == -EIO)
            }
            #expect(caf_random(&bytes, 8) == 0 && bytes != [UInt8](repeating: 0, count: 8))
        }
    }
}
