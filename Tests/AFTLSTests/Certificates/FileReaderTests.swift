import CAFOpenSSL
import Foundation
import Testing

@testable import AFTLS

@Suite struct FileReaderTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
    }

    private func read(_ path: String, limit: Int = 1 << 20) -> (code: Int32, bytes: [UInt8]?) {
        var (bytes, count) = (UnsafeMutablePointer<UInt8>?.none, 7)
        let code = caf_read_file(path, limit, &bytes, &count)
        defer { caf_free(bytes) }
        return (code, bytes.map { Array(UnsafeBufferPointer(start: $0, count: count)) })
    }

    /// Whether this process still holds it.
    private func isOpen(_ path: String) -> Bool {
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return open.contains {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 300_000])
    func `a file is read to its end, up to the limit and not one byte beyond`(size: Int) throws {
        let path = try folder.file(pattern(size)).path
        for limit in [size, size + 1, 1 << 20] { #expect(read(path, limit: limit) == (0, Array(pattern(size)))) }
        if size > 0 { #expect(read(path, limit: size - 1) == (EFBIG, nil)) }
        #expect(!isOpen(path))
    }

    @Test func `what cannot be read says why, and so does the error`() throws {
        let file = try folder.file(Data("x".utf8)).path
        let cases: [(String, Int32, String)] = [
            (folder.path, EISDIR, "it is a folder; name a file"), ("/dev/null", ENOTSUP, "it is not a regular file"),
            (file + "/x", ENOTDIR, "it cannot be read: Not a directory"), (file + "x", ENOENT, "there is no such file"),
            // A regular file, and every read of its first page fails.
            ("/proc/self/mem", EIO, "it cannot be read: Input/output error"),
        ]
        for (path, code, message) in cases {
            #expect(read(path) == (code, nil), "\(path)")
            let error = #expect(throws: CertificateError.self) { try FileReader.bytes(atPath: path) }
            #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
        }
    }

    @Test func `a folder is its names, each with its end, and no folder has none`() throws {
        for name in ["b", "a.pem", "long-name.crt"] { try folder.write(name, Data()) }
        var (names, count) = (UnsafeMutablePointer<UInt8>?.none, 7)
        #expect(caf_list_folder(folder.path, &names, &count) == 0)
        let all = UnsafeBufferPointer(start: names, count: count).split(separator: 0, omittingEmptySubsequences: false)
        #expect(
            all.map { String(decoding: $0, as: UTF8.self) }.sorted() == ["", ".", "..", "a.pem", "b", "long-name.crt"]
        )
        #expect(try FileReader.names(inFolder: folder.path) == [".", "..", "a.pem", "b", "long-name.crt"])
        for (path, code) in [(folder.path + "/none", ENOENT), (folder.path + "/b", ENOTDIR)] {
            var (other, size) = (UnsafeMutablePointer<UInt8>?.none, 0)
            #expect(caf_list_folder(path, &other, &size) == code && other == nil && size == 0)
        }
        caf_free(names)
        #expect(!isOpen(folder.path))
    }

    @Test func `the text of an error fits the room there is, and ends`() {
        for (capacity, text) in [(4, "Not"), (16, "Not a directory"), (15, "Not a director")] {
            var buffer = [CChar](repeating: 0x7E, count: capacity + 1)
            caf_errno_text(ENOTDIR, &buffer, capacity)
            #expect(buffer.map { UInt8(bitPattern: $0) } == Array(text.utf8) + [0, 0x7E])
        }
        var buffer = [CChar](repeating: 0, count: 40)
        caf_errno_text(99_999, &buffer, 40)
        #expect(buffer.starts(with: Array("Unknown error 99999".utf8CString)))
    }
}
