// swift-format-ignore-file: AlwaysUseLowerCamelCase

import AFBase
public import Foundation

// Functions of CoreFoundation that occur where certificates and keys are compared.

/// The number of bytes.
public func CFDataGetLength(_ theData: CFData!) -> CFIndex { theData?.count ?? 0 }

/// The bytes. As on Apple's platforms the pointer is good for as long as the data lives and does not change.
public func CFDataGetBytePtr(_ theData: CFData!) -> UnsafePointer<UInt8>! {
    guard let theData else { return nil }
    if theData.count <= ShortBytes.longest { return ShortBytes.pointer(to: theData) }
    // Longer data has its bytes on the heap, and every copy of it the same ones.
    return theData.withUnsafeBytes { $0.baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

/// Whether two values are equal: keys, certificates, bytes, texts, dates, numbers, and arrays and dictionaries of them.
public func CFEqual(_ cf1: CFTypeRef?, _ cf2: CFTypeRef?) -> Bool {
    guard let cf1, let cf2 else { return false }
    if let one = cf1 as? any Hashable, let other = cf2 as? any Hashable {
        return AnyHashable(one) == AnyHashable(other)
    }
    guard let one = cf1 as AnyObject as? NSObject else { return cf1 as AnyObject === cf2 as AnyObject }
    return one.isEqual(cf2 as AnyObject)
}

/// Bytes of data that is so short that it has them within itself, and no address for them: one copy of each, for ever.
private enum ShortBytes {
    /// Foundation's `Data` has 14 bytes within itself, on machines of 64 bits.
    static let longest = 14
    private static let addresses = Lock([Data: UInt]())

    static func pointer(to data: Data) -> UnsafePointer<UInt8>? {
        let address = addresses.withLock { addresses in
            if let address = addresses[data] { return address }
            let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, data.count))
            _ = copy.initialize(from: data)
            let address = UInt(bitPattern: copy.baseAddress)
            addresses[data] = address
            return address
        }
        return UnsafePointer(bitPattern: address)
    }
}
