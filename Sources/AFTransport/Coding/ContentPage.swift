/// Where the decoder makes its pieces, for one body at a time. The caller copies a piece before it asks for the next,
/// so one page serves all bodies of a loop.
package final class ContentPage {
    package let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: ContentDecoder.pieceSize, alignment: 64)

    deinit {
        bytes.deallocate()
    }
}
