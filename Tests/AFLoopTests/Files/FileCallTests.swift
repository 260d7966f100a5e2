import AFFaults
import AFTestSupport
import CAFLinux
import Foundation
import Glibc
import Testing

@Suite("System calls for files")
struct FileCallTests {
    /// A scratch folder, open, with what is opened in it.
    private final class Place {
        let scratch: ScratchFolder
        private var opened: [Int32] = []

        init(in parent: URL = FileManager.default.temporaryDirectory) throws {
            scratch = try ScratchFolder(in: parent)
            _ = try keep(caf_open_folder(scratch.path))
        }

        deinit { for descriptor in opened { close(descriptor) } }

        var folder: Int32 { opened[0] }

        func keep(_ result: Int32) throws -> Int32 {
            try #require(result >= 0, "errno \(-result)")
            opened.append(result)
            return result
        }

        func file(_ name: String = "file") throws -> Int32 { try keep(caf_create_named_file(folder, name)) }

        func status(_ name: String) -> caf_file_status? {
            var status = caf_file_status()
            return caf_file_status_at(folder, name, &status) == 0 ? status : nil
        }

        func text(_ name: String) -> String? { try? String(contentsOf: scratch.file(name), encoding: .utf8) }

        /// Writes pieces with one call.
        func write(_ pieces: String..., to file: Int32, at offset: Int64 = 0) -> Int {
            var bytes = Array(pieces.joined().utf8)
            return bytes.withUnsafeMutableBytes { bytes in
                var next = bytes.baseAddress
                var slices = pieces.map { piece in
                    defer { next = next.map { $0 + piece.utf8.count } }
                    return iovec(iov_base: next, iov_len: piece.utf8.count)
                }
                // One too many, which must not be looked at.
                slices.append(iovec(iov_base: nil, iov_len: 1_000))
                return caf_write_slices(file, slices, Int32(pieces.count), offset)
            }
        }
    }

    private static let memory = URL(filePath: "/dev/shm")

    /// Whether files in memory may have no name: O_TMPFILE.
    private static let hasNameless: Bool = {
        let file = open(memory.path, 0o20_000_000 | O_DIRECTORY | O_RDWR, 0o600)
        return file >= 0 && close(file) == 0
    }()

    // MARK: - Folders

    @Test func `new files and folders are for their owner alone, and take no name that exists`() throws {
        let place = try Place()
        let opened = try [
            place.file(), place.keep(caf_open_own_folder(place.folder, "own")),
            place.keep(caf_open_own_folder(place.folder, "own")), place.folder,
        ]
        var status = caf_file_status()
        for descriptor in opened { #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC) }
        for folder in opened[1...2] {
            #expect(caf_file_status_of(folder, &status) == 0 && status.inode == place.status("own")?.inode)
        }
        #expect(place.status("file")?.permissions == 0o600 && status.permissions == 0o700 && status.is_folder)
        #expect(caf_create_named_file(place.folder, "file") == -EEXIST)
        #expect(caf_open_own_folder(place.folder, "file") == -ENOTDIR)
    }

    @Test func `no link is followed, and a pipe without another end opens at once`() throws {
        let place = try Place()
        let folder = place.folder
        mkdir(place.scratch.file("real").path, 0o700)
        try place.scratch.write("text", Data("text".utf8))
        symlink("text", place.scratch.file("link").path)
        symlink("real", place.scratch.file("folder").path)
        mkfifo(place.scratch.file("pipe").path, 0o600)

        #expect(caf_open_file(folder, "link") == -ELOOP && caf_open_file_for_reading(folder, "link") == -ELOOP)
        #expect(caf_create_named_file(folder, "link") == -EEXIST)
        #expect(caf_open_folder_at(folder, "folder") == -ENOTDIR && caf_open_own_folder(folder, "folder") == -ENOTDIR)
        #expect(place.status("link").map { !$0.is_regular && !$0.is_folder && $0.size == 4 } == true)
        for descriptor in [
            caf_open_file(folder, "pipe"), caf_open_file_for_reading(folder, "pipe"), caf_open_file(folder, "text"),
            caf_open_for_reading(place.scratch.file("link").path), caf_open_folder_at(folder, "real"),
        ] { #expect(fcntl(try place.keep(descriptor), F_GETFD) == FD_CLOEXEC) }
    }

    @Test func `names are listed as often as one asks, as far as one wants, and not if that is refused`() async {
        await #expect(processExitsWith: .success) {
            let place = try Place()
            mkdir(place.scratch.file("own").path, 0o700)
            func names() -> (Int32, [String]) {
                let names = NSMutableArray()
                let result = caf_for_each_name(
                    place.folder,
                    { name, names in
                        guard let name, let names else { return }
                        Unmanaged<NSMutableArray>.fromOpaque(names).takeUnretainedValue().add(String(cString: name))
                    },
                    Unmanaged.passUnretained(names).toOpaque()
                )
                return (result, names.compactMap { $0 as? String }.sorted())
            }
            // With a position of its own each time.
            for _ in 1...2 { #expect(names() == (0, [".", "..", "own"])) }
            var count = 0
            let stop: @convention(c) (UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Bool = { _, count in
                count?.assumingMemoryBound(to: Int.self).pointee += 1
                return false
            }
            #expect(caf_for_names(place.folder, stop, &count) == 0 && count == 1)
            // Number 0 is a folder as well.
            dup2(place.folder, 0)
            #expect(PlayedKernel.refuse(CAF_CALL_OPEN, 0, body: names) == (0, [".", "..", "own"]))
            let (refused, calls) = PlayedKernel.play([(CAF_CALL_READ_FOLDER, EPERM)], names)
            #expect(refused == (-EPERM, []) && calls.map(\.kind).last == CAF_CALL_CLOSE && calls.count == 3)
            #expect(calls.last?.descriptor == calls[1].descriptor)
            // One that cannot be made is not opened.
            #expect(
                PlayedKernel.refuse(CAF_CALL_MAKE_FOLDER, EPERM) { caf_open_own_folder(place.folder, "own") } == -EPERM
            )
        }
    }

    // MARK: - Files without a name

    @Test(.enabled(if: hasNameless))
    func `a file without a name gets one later, as long as there is a way to it`() async {
        await #expect(processExitsWith: .success) {
            let place = try Place(in: Self.memory)
            /// The result, whether the file has a name, and the calls for that.
            func create(_ name: String, _ answers: (caf_call, Int32)...) -> (Int32, Bool, [caf_call]) {
                var hasName = true
                let (file, calls) = PlayedKernel.play(answers) { caf_create_file(place.folder, name, &hasName) }
                return (file, hasName, calls.map(\.kind))
            }
            func link(_ file: Int32, _ name: String, _ codes: Int32...) -> Int32 {
                PlayedKernel.play(codes.map { (CAF_CALL_LINK, $0) }) { caf_link_file(file, place.folder, name) }.result
            }
            let (open, ask) = (CAF_CALL_OPEN, CAF_CALL_INQUIRE)

            // No other way is tried.
            for code in [EPERM, EACCES] { #expect(create("refused", (open, code)) == (-code, false, [open])) }
            // Nor can a file be named that /proc does not have.
            for name in ["one", "two"] {
                dup2(place.folder, 0)
                #expect(create(name, (open, 0), (ask, EPERM)) == (0, true, [open, ask, CAF_CALL_CLOSE, open]))
                #expect(place.status(name) != nil)
            }
            for (number, code) in [EOPNOTSUPP, EISDIR, ENOENT, EINVAL].enumerated() {
                let (file, hasName, calls) = create("old\(number)", (open, code))
                #expect(file > 0 && hasName && calls == [open, open] && place.status("old\(number)") != nil)
            }
            let files = (1...3).map { number in
                let (file, hasName, calls) = create("nothing")
                #expect(!hasName && calls == (number == 1 ? [open, ask] : [open]) && place.status("nothing") == nil)
                return file
            }
            #expect(link(files[0], "plain") == 0 && place.status("plain")?.permissions == 0o600)
            #expect(link(files[1], "plain") == -EEXIST && link(files[1], "secret", ENOENT, EPERM) == -EPERM)
            // By its descriptor no longer, once the other way has worked.
            #expect(link(files[1], "named", ENOENT) == 0 && place.status("named")?.links == 1)
            #expect(create("nothing").2 == [open])
            #expect(link(files[2], "gone", ENOENT) == -ENOENT && place.status("gone") == nil)
            #expect(create("nothing").2 == [open, ask])
            #expect(link(files[2], "there") == 0 && place.status("there")?.links == 1)
        }
    }

    // MARK: - Status

    @Test func `a status says what the kernel knows`() throws {
        let place = try Place()
        let file = try place.file()
        #expect(place.write(String(repeating: "x", count: 9_000), to: file) == 9_000 && caf_sync(file) == 0)
        link(place.scratch.file("file").path, place.scratch.file("second").path)
        fchmod(file, 0o751)
        for (seconds, nanoseconds) in [(1_700_000_001, 123_456_789), (-5, 999_999_999)] {
            futimens(file, [timespec](repeating: timespec(tv_sec: seconds, tv_nsec: nanoseconds), count: 2))
            var (known, status) = (stat(), caf_file_status())
            #expect(fstat(file, &known) == 0 && caf_file_status_of(file, &status) == 0)
            #expect(status.size == 9_000 && status.links == 2 && status.owner == geteuid() && status.is_regular)
            #expect(status.permissions == 0o751 && status.device == known.st_dev && status.inode == known.st_ino)
            #expect(status.modified_nanoseconds == Int64(seconds * 1_000_000_000 + nanoseconds) && !status.is_folder)
            #expect(status.allocated == Int64(known.st_blocks) * 512 && status.allocated > 0)
            #expect(place.status("second")?.inode == status.inode && place.status("nothing") == nil)
        }
    }

    @Test func `the room that is left is what other programs are told`() throws {
        let place = try Place()
        var (known, bytes) = (statvfs(), Int64(-1))
        #expect(caf_free_space(place.folder, &bytes) == 0 && fstatvfs(place.folder, &known) == 0)
        // Others write meanwhile.
        #expect(abs(bytes - Int64(known.f_bavail * UInt(known.f_frsize))) < 8 << 30 && bytes >= 0)
        #expect(bytes <= Int64(known.f_blocks * UInt(known.f_frsize)))
    }

    @Test func `an attribute is set, set again, read and removed`() throws {
        let place = try Place()
        let file = try place.file()
        let result = caf_set_attribute(file, "user.test", "first", 5)
        guard result != -EOPNOTSUPP else { return }
        var bytes = [UInt8](repeating: 0, count: 8)
        #expect(result == 0 && caf_set_attribute(file, "user.test", "other", 5) == 0)
        #expect(caf_attribute(file, "user.test", &bytes, 8) == 5 && bytes == Array("other".utf8) + [0, 0, 0])
        #expect(caf_attribute(file, "user.test", &bytes, 4) == -Int(ERANGE))
        #expect(caf_remove_attribute(file, "user.test") == 0 && caf_remove_attribute(file, "user.test") == -ENODATA)
    }

    // MARK: - Bytes

    @Test func `slices are written one behind the other, and as far as the kernel takes them`() async {
        await #expect(processExitsWith: .success) {
            let place = try Place()
            // What is moved at most, and what is written.
            for (longest, count) in [(Int.max, 7), (7, 7), (6, 3), (4, 3), (3, 3), (2, 2)] {
                let file = try place.file("\(longest)")
                let (result, calls) = PlayedKernel.play(longest: longest) {
                    place.write("abc", "defg", to: file, at: 1)
                }
                #expect(result == count && calls.map(\.length) == [7])
                #expect(place.text("\(longest)") == "\0" + "abcdefg".prefix(count))
                var bytes = [UInt8](repeating: 0, count: 20)
                #expect(PlayedKernel.play(longest: 2) { caf_read_at(file, &bytes, 20, 1) }.result == 2)
                #expect(caf_read_at(file, &bytes, 20, 1) == count && bytes[0] == UInt8(ascii: "a"))
                #expect(caf_truncate(file, 2) == 0 && place.status("\(longest)")?.size == 2)
            }
        }
    }

    @Test func `a limit of file sizes is an error, and the signal of it comes only to who waits for it`() async {
        await #expect(processExitsWith: .success) {
            let place = try Place()
            let file = try place.file()
            let kind = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            var (limit, signal, before, after, waiting) = (rlimit(), sigset_t(), sigset_t(), sigset_t(), sigset_t())
            getrlimit(kind, &limit)
            limit.rlim_cur = 10
            setrlimit(kind, &limit)
            sigaddset(&signal, SIGXFSZ)
            pthread_sigmask(SIG_UNBLOCK, &signal, nil)
            pthread_sigmask(SIG_BLOCK, nil, &before)

            #expect(place.write("ab", "c", to: file, at: 9) == 1)
            #expect(place.write("ab", "c", to: file, at: 10) == -Int(EFBIG))
            pthread_sigmask(SIG_BLOCK, nil, &after)
            sigpending(&waiting)
            #expect((1...64).allSatisfy { sigismember(&before, $0) == sigismember(&after, $0) })
            #expect(sigismember(&waiting, SIGXFSZ) == 0)
            // Who blocks the signal finds it.
            pthread_sigmask(SIG_BLOCK, &signal, nil)
            #expect(place.write("a", to: file, at: 10) == -Int(EFBIG))
            sigpending(&waiting)
            #expect(sigismember(&waiting, SIGXFSZ) == 1)
            var number: Int32 = 0
            sigwait(&signal, &number)
            // A file system has a limit of its own, of which there is no signal.
            limit.rlim_cur = limit.rlim_max
            setrlimit(kind, &limit)
            pthread_sigmask(SIG_UNBLOCK, &signal, nil)
            let known = pwrite(file, "x", 1, off_t.max - 5) == 1 ? 1 : -Int(errno)
            #expect(place.write("a", to: file, at: Int64.max - 5) == known)
        }
    }

    @Test(.enabled(if: hasNameless))
    func `what is read without waiting is there or left to the disk, and memory says that it is some`() async {
        await #expect(processExitsWith: .success) {
            let place = try Place(in: Self.memory)
            let file = try place.file()
            var bytes = [UInt8](repeating: 0, count: 8)
            #expect(place.write("hello", to: file) == 5)
            let count = caf_read_at_without_waiting(file, &bytes, 8, 1)
            #expect(count == 4 ? bytes[0] == UInt8(ascii: "e") : [-Int(EAGAIN), -Int(EOPNOTSUPP)].contains(count))
            for (code, known) in [(ENOSYS, EOPNOTSUPP), (EINVAL, EOPNOTSUPP), (EAGAIN, EAGAIN), (EIO, EIO)] {
                let read = PlayedKernel.refuse(CAF_CALL_PREAD, code) { caf_read_at_without_waiting(file, &bytes, 8, 0) }
                #expect(read == -Int(known))
            }
            #expect(!caf_is_in_memory(try place.keep(caf_open_folder("/proc"))) && caf_is_in_memory(file))
            #expect(!PlayedKernel.refuse(CAF_CALL_INQUIRE, EPERM) { caf_is_in_memory(file) })
        }
    }

    // MARK: - Names

    @Test func `what moves replaces nothing unless it is meant to, whatever the file system knows`() async {
        await #expect(processExitsWith: .success) {
            // What the kernel says, and what comes of it for a name that is free, and for one that is not.
            let rows: [(codes: [Int32], free: Int32, taken: Int32)] = [
                ([], 0, -EEXIST), ([EINVAL], 0, -EEXIST), ([EPERM], -EPERM, -EPERM), ([ENOSYS, EPERM], 0, -EEXIST),
                ([EINVAL, EOPNOTSUPP], 0, -EEXIST), ([EINVAL, ENOSYS], 0, -EEXIST), ([EINVAL, EIO], -EIO, -EIO),
                ([EINVAL, EPERM, EPERM], -EPERM, -EPERM), ([EINVAL, EPERM, EACCES], -EACCES, -EACCES),
            ]
            for (codes, free, taken) in rows {
                let answers = Array(zip([CAF_CALL_RENAME, CAF_CALL_LINK, CAF_CALL_FSTAT], codes))
                let (from, to) = (try Place(), try Place())
                try from.scratch.write("one", Data("1".utf8))
                try to.scratch.write("two", Data("2".utf8))
                func move(to name: String) -> Int32 {
                    let played = PlayedKernel.play(answers) { caf_move(from.folder, "one", to.folder, name, false) }
                    #expect(played.calls.allSatisfy { $0.descriptor == -1 })
                    return played.result
                }
                #expect(move(to: "two") == taken && to.text("two") == "2" && from.text("one") == "1", "\(codes)")
                #expect(move(to: "free") == free && to.text("free") == (free == 0 ? "1" : nil), "\(codes)")
                #expect(from.text("one") == (free == 0 ? nil : "1"), "\(codes)")
            }
            let place = try Place()
            let folder = place.folder
            for name in ["1", "2", "3"] { try place.scratch.write(name, Data(name.utf8)) }
            #expect(caf_rename(folder, "1", "2") == -EEXIST && place.text("2") == "2")
            #expect(caf_replace(folder, "1", "2") == 0 && place.text("2") == "1" && place.text("1") == nil)
            #expect(caf_move(folder, "2", folder, "3", true) == 0 && place.text("3") == "1")
            #expect(PlayedKernel.refuse(CAF_CALL_RENAME, ENOSYS) { caf_rename(folder, "3", "4") } == 0)
            #expect(PlayedKernel.refuse(CAF_CALL_RENAME, EIO) { caf_rename(folder, "4", "5") } == -EIO)
            #expect(caf_rename(folder, "4", "5") == 0 && place.text("5") == "1")
        }
    }

    @Test func `files and empty folders are removed, each by its own call, and locks exclude each other`() throws {
        let place = try Place()
        let (folder, file) = (place.folder, try place.file())
        let other = caf_open_file(folder, "file")
        mkdir(place.scratch.file("folder").path, 0o700)
        #expect(caf_lock_file(file) == 0 && caf_lock_file(file) == 0 && caf_lock_file(other) == -EWOULDBLOCK)
        caf_unlock_file(file)
        #expect(caf_lock_file(other) == 0)
        // Not by closing it: a process that another test starts just now has the file, too.
        caf_unlock_file(other)
        #expect(caf_close(other) == 0 && caf_lock_file(file) == 0)
        #expect(caf_unlink(folder, "folder") == -EISDIR && caf_remove_folder(folder, "file") == -ENOTDIR)
        #expect(caf_unlink(folder, "file") == 0 && caf_remove_folder(folder, "folder") == 0)
        #expect(caf_unlink(folder, "file") == -ENOENT && place.status("folder") == nil)
    }

    // MARK: - Whose process this is

    @Test func `the home and the program fit exactly, or are refused`() async {
        await #expect(processExitsWith: .success) {
            var bytes = [CChar](repeating: 1, count: 8_192)
            let path = caf_path_of_program(&bytes, bytes.count)
            #expect(path > 1 && caf_path_of_program(&bytes, path + 1) == path)
            #expect(caf_path_of_program(&bytes, path) == -Int(ENAMETOOLONG))
            if caf_home_of_user(&bytes, bytes.count) == 0 {
                let length = strlen(bytes)
                bytes = [CChar](repeating: 1, count: 8_192)
                #expect(caf_home_of_user(&bytes, length) == -ENAMETOOLONG && bytes[0] == 1)
                #expect(caf_home_of_user(&bytes, length + 1) == 0 && bytes[length] == 0 && bytes[length + 1] == 1)
            }
            // Without an entry there is no home.
            let user = geteuid()
            guard getpwuid(54_321) == nil, seteuid(54_321) == 0 else { return }
            #expect(caf_effective_user() == 54_321 && caf_home_of_user(&bytes, 64) == -ENOENT)
            // The leak sanitizer looks at the process when it ends, which the other user may not.
            #expect(seteuid(user) == 0)
        }
    }
}
