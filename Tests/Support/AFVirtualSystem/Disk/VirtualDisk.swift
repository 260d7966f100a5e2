import CAFLinux
import CAFTestSupport
package import Foundation
import Glibc

/// A disk of a virtual world: a folder in memory, and in front of it everything that disks do to those who use them.
///
/// Every system call that production code makes for a file on this thread passes by here, through the hook of
/// `CAFLinux`. It may fail, be interrupted, or move less than was asked for. The disk knows what has been synced and what
/// has not, so at any call the power can be cut: what is found afterwards is one of the states that the calls before
/// allow, and no other.
package final class VirtualDisk {
    package let url: URL
    private let faults: Faults
    private var history = DiskHistory()
    private var callsUntilCut: Int?
    /// What the power cut left of the folder, if there was one.
    package private(set) var survivors: VirtualDisk?
    /// Calls that were made on it.
    package private(set) var calls = 0

    /// - Parameter faults: What may go wrong; nothing does while `isMounted` is false.
    package init(faults: Faults = Faults()) throws {
        self.faults = faults
        let shared = URL(fileURLWithPath: "/dev/shm")
        let parent =
            FileManager.default.isWritableFile(atPath: shared.path) ? shared : FileManager.default.temporaryDirectory
        url = parent.appendingPathComponent("af-disk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit {
        unmount()
        try? FileManager.default.removeItem(at: url)
    }

    package var path: String { url.path }
    package func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// Puts the disk in front of all calls of this thread.
    package func mount() {
        caft_route(routeCall, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Calls go to the system again.
    package func unmount() {
        caft_unroute(Unmanaged.passUnretained(self).toOpaque())
    }

    /// The power fails in front of the so many-th call from now on.
    package func cutPower(atCall ordinal: Int) {
        history.remember(url.path)
        callsUntilCut = ordinal
    }

    // MARK: - Calls

    fileprivate func meets(_ call: caf_call, _ descriptor: Int32, _ length: inout Int) -> Int? {
        calls += 1
        if survivors != nil { return call == CAF_CALL_CLOSE ? nil : -Int(EIO) }
        if let left = callsUntilCut {
            callsUntilCut = left - 1
            if left <= 1 {
                cut()
                return call == CAF_CALL_CLOSE ? nil : -Int(EIO)
            }
        }
        if call != CAF_CALL_CLOSE, faults.strikes(.diskInterrupted) { return -Int(EINTR) }
        if let code = failure(of: call) { return -Int(code) }
        if callsUntilCut != nil { remember(call, descriptor) }
        return shortened(call, &length)
    }

    private func remember(_ call: caf_call, _ descriptor: Int32) {
        switch call {
        case CAF_CALL_SYNC: history.synced(descriptor, in: url.path)
        case CAF_CALL_RENAME, CAF_CALL_UNLINK, CAF_CALL_LINK, CAF_CALL_OPEN: history.remember(url.path)
        default: break
        }
    }

    private func failure(of call: caf_call) -> Int32? {
        switch call {
        case CAF_CALL_OPEN:
            if faults.strikes(.diskOpenFails) { return EIO }
            if faults.strikes(.diskOpenDenied) { return EACCES }
            if faults.strikes(.diskWithoutDescriptor) { return EMFILE }
            return faults.strikes(.diskOpenFull) ? ENOSPC : nil
        case CAF_CALL_PWRITE:
            if faults.strikes(.diskWriteFails) { return EIO }
            return faults.strikes(.diskWriteFull) ? ENOSPC : nil
        case CAF_CALL_MAKE_FOLDER: return faults.strikes(.diskFolderFails) ? ENOSPC : nil
        case CAF_CALL_FSTAT: return faults.strikes(.diskStatusFails) ? EIO : nil
        case CAF_CALL_PREAD: return faults.strikes(.diskReadFails) ? EIO : nil
        case CAF_CALL_LINK: return faults.strikes(.diskLinkFails) ? EIO : nil
        case CAF_CALL_RENAME: return faults.strikes(.diskRenameFails) ? EIO : nil
        case CAF_CALL_UNLINK: return faults.strikes(.diskRemoveFails) ? EIO : nil
        case CAF_CALL_SYNC: return faults.strikes(.diskSyncFails) ? EIO : nil
        case CAF_CALL_CLOSE: return faults.strikes(.diskCloseFails) ? EIO : nil
        case CAF_CALL_RANDOM: return faults.strikes(.diskWithoutRandom) ? EIO : nil
        default: return nil
        }
    }

    private func shortened(_ call: caf_call, _ length: inout Int) -> Int? {
        switch call {
        case CAF_CALL_PREAD where length > 0:
            if faults.strikes(.diskReadEmpty) { return 0 }
            if length > 1, faults.strikes(.diskReadShort) { length = faults.draw(.diskReadShort, 1...(length - 1)) }
        case CAF_CALL_PWRITE where length > 1:
            if faults.strikes(.diskWriteShort) { length = faults.draw(.diskWriteShort, 1...(length - 1)) }
        default: break
        }
        return nil
    }

    /// Failures that the disk has had so far, but for those that only wait or shorten.
    package var failures: Int {
        FaultPoint.allCases.lazy.filter { $0.name.hasPrefix("disk.") && !$0.isKind }.reduce(0) { $0 + faults.count($1) }
    }

    // MARK: - The power

    private func cut() {
        faults.note(.diskPowerCut)
        history.remember(url.path)
        guard let after = try? VirtualDisk(faults: Faults()) else { return }
        history.write(to: after.url.path, faults)
        survivors = after
    }
}

private func routeCall(
    _ context: UnsafeMutableRawPointer?,
    _ call: Int32,
    _ descriptor: Int32,
    _ length: UnsafeMutablePointer<Int>?,
    _ result: UnsafeMutablePointer<Int>?
) -> Bool {
    guard let context, let length, let result else { return false }
    let disk = Unmanaged<VirtualDisk>.fromOpaque(context).takeUnretainedValue()
    guard let answer = disk.meets(caf_call(UInt32(call)), descriptor, &length.pointee) else { return false }
    result.pointee = answer
    return true
}
