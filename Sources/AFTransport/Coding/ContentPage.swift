/// Where pieces of decoded bodies are made, one body at a time: a piece is copied before the next is made, so one page
/// serves all bodies of a loop.
package final class ContentPage {
    package let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: ContentDecoder.pieceSize, alignment: 64)

    deinit {
        bytes.deallocate()
    }
}
