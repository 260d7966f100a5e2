package import AFWire
package import Foundation

/// Applies one content coding to a body, piece by piece. Confined to its owner.
package final class ContentEncoder {
    /// What follows the content that it is given.
    package enum Next {
        case more
        /// Nothing for now: a peer that reads along gets all that there is so far.
        case pause
        case end
    }

    private let codec: any EncodingCodec

    package init(_ coding: ContentCoding) throws(ContentFailure) {
        switch coding {
        case .gzip, .deflate: codec = try DeflateCodec(coding)
        #if Brotli
            case .brotli: codec = try BrotliEncoding()
        #endif
        #if Zstd
            case .zstd: codec = try ZstdEncoding()
        #endif
        }
    }

    /// Codes the next piece of the content.
    package func encode(_ content: some ContiguousBytes, before next: Next) throws(ContentFailure) -> [UInt8] {
        var coded: [UInt8] = []
        let failure = content.withUnsafeBytes { content -> ContentFailure? in
            do throws(ContentFailure) {
                try encode(content, before: next, to: &coded)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
        return coded
    }

    private func encode(
        _ content: UnsafeRawBufferPointer,
        before next: Next,
        to coded: inout [UInt8]
    ) throws(ContentFailure) {
        var rest = content
        var isDone = false
        while !isDone {
            try coded.append(addingCapacity: max(256, rest.count / 2 + 64)) { output throws(ContentFailure) in
                try output.withUnsafeMutableBufferPointer { buffer, used throws(ContentFailure) in
                    let room = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[used...]))
                    let step = try codec.run(rest, before: next, into: room)
                    used += step.produced
                    rest = UnsafeRawBufferPointer(rebasing: rest[step.consumed...])
                    isDone = step.hasEnded
                }
            }
        }
    }
}

/// The part of applying a coding that a library does.
protocol EncodingCodec: AnyObject {
    /// Takes bytes from the front of the content, and makes some of the output. The step has ended when it has taken all,
    /// and has made all that may not wait for more.
    func run(
        _ content: UnsafeRawBufferPointer,
        before next: ContentEncoder.Next,
        into output: UnsafeMutableRawBufferPointer
    ) throws(ContentFailure) -> CodecStep
}
