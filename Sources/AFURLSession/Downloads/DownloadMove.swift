import AFLoop
import AFURLTypes
public import Foundation
import Glibc

extension FileManager {
    /// Moves a downloaded file to its final place, in one step: no program ever finds a part of it there, whatever
    /// happens meanwhile.
    ///
    /// ```swift
    /// let (file, _) = try await session.download(from: url)
    /// try FileManager.default.moveDownload(at: file, to: destination)
    /// ```
    ///
    /// To another file system the file is copied, and the copy gets its name when it is complete and written to the
    /// disk. Only its owner may read and write it, like any file of a download. `moveItem(at:to:)` copies too, but its
    /// unfinished copy is visible to every program, and may stay there when the disk is full or the program ends.
    ///
    /// Waits for the disks, so it may take as long as copying takes.
    ///
    /// - Parameters:
    ///   - location: The file. It is gone afterwards, unless this throws.
    ///   - place: Its new name, in a folder that exists.
    ///   - replacing: Whether a file of that name is replaced. If not, it stays, and an error is thrown, even if
    ///     another program makes it at the same moment. False.
    /// - Throws: A `CocoaError`: `.fileWriteFileExists` (516) if there is something of that name, `.fileNoSuchFile` (4)
    ///   if file or folder are not there, `.fileWriteNoPermission` (513), `.fileWriteOutOfSpace` (640), and others,
    ///   with the error of the system as its underlying one.
    public func moveDownload(at location: URL, to place: URL, replacing: Bool = false) throws {
        do throws(SystemCallError) {
            try DownloadMove(from: location, to: place).move(replacing: replacing)
        } catch {
            throw CocoaError(error, from: location, to: place)
        }
    }
}

/// Moves a complete file to its final place.
private struct DownloadMove {
    private static let pieceSize = 1 << 20

    /// A name in an open folder: the path to it may come to mean another folder meanwhile.
    private struct Place {
        let folder: Folder
        let name: String

        init(_ url: URL) throws(SystemCallError) {
            let path = url.isFileURL ? url.path : ""
            // The path is empty here if its bytes are not text.
            guard !path.isEmpty, !path.utf8.contains(0) else { throw SystemCallError(.open, code: EINVAL) }
            let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
            name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
            let parent = slash.map { String(path[...$0]) } ?? "."
            guard !name.isEmpty else { throw SystemCallError(.open, code: EISDIR) }
            folder = try Folder(path: parent)
        }
    }

    private let source: Place
    private let target: Place

    init(from location: URL, to place: URL) throws(SystemCallError) {
        source = try Place(location)
        target = try Place(place)
    }

    func move(replacing: Bool) throws(SystemCallError) {
        do throws(SystemCallError) {
            try source.folder.move(source.name, to: target.name, in: target.folder, replacing: replacing)
        } catch {
            guard error.code == EXDEV else { throw error }
            try copy(replacing: replacing)
            // The copy is complete: do not report an error because the original stays.
            try? source.folder.remove(source.name)
        }
    }

    private func copy(replacing: Bool) throws(SystemCallError) {
        let original = try source.folder.openFileForReading(named: source.name)
        let status = try original.status()
        guard status.isRegular else { throw SystemCallError(.open, code: EINVAL) }
        let hidden = ".\(try FileToken.random()).download"
        let (file, hasName) = try target.folder.makeFile(named: hidden)
        do throws(SystemCallError) {
            try copy(original, of: status.size, to: file)
            // The file's bytes must reach the disk before its name does.
            try file.sync()
            if !hasName {
                guard replacing else { return try file.link(as: target.name, in: target.folder) }
                try file.link(as: hidden, in: target.folder)
            }
            try target.folder.move(hidden, to: target.name, in: target.folder, replacing: replacing)
        } catch {
            // A file that has no name yet is removed when it is closed.
            try? target.folder.remove(hidden)
            throw error
        }
    }

    private func copy(_ original: DiskFile, of size: Int64, to file: DiskFile) throws(SystemCallError) {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: DownloadMove.pieceSize, alignment: 16)
        defer { piece.deallocate() }
        var length: Int64 = 0
        while length < size {
            let count = try original.read(into: piece, at: length)
            // An incomplete copy must not get the final name.
            guard count > 0 else { throw SystemCallError(.pread, code: EIO) }
            var written: Int64 = 0
            try file.write([UnsafeRawBufferPointer(rebasing: piece[..<count])], at: length, written: &written)
            length += written
        }
    }
}

extension CocoaError {
    fileprivate init(_ error: SystemCallError, from location: URL, to place: URL) {
        let cause = NSError(domain: NSPOSIXErrorDomain, code: Int(error.code))
        var details: [String: Any] = [NSUnderlyingErrorKey: cause]
        details[NSFilePathErrorKey] = location.path
        details["NSDestinationFilePath"] = place.path
        let path = place.isFileURL ? place.path : place.absoluteString
        details[NSLocalizedDescriptionKey] =
            "The file could not be moved to \(path): \(SystemErrorText.of(error.code))."
        self.init(Self.code(error.code), userInfo: details)
    }

    private static func code(_ errno: Int32) -> CocoaError.Code {
        switch errno {
        case EEXIST, ENOTEMPTY, EISDIR: .fileWriteFileExists
        case ENOENT, ENOTDIR: .fileNoSuchFile
        case EACCES, EPERM: .fileWriteNoPermission
        case ENOSPC, EDQUOT: .fileWriteOutOfSpace
        case EROFS: .fileWriteVolumeReadOnly
        case ENAMETOOLONG, EINVAL, ELOOP: .fileWriteInvalidFileName
        default: .fileWriteUnknown
        }
    }
}
