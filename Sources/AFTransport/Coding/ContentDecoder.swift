package import AFWire

/// Undoes the content codings of one body, piece by piece. Confined to its loop; knows nothing of tasks.
///
/// ```
/// received bytes ──▶ stage ──page──▶ stage ──▶ a piece of at most 64 KiB
///                 applied last       applied first
/// ```
///
/// It makes a piece only when asked, so a caller that stops asking stops the inflating.
package final class ContentDecoder {
    /// The longest piece. More at a time wins nothing.
    package static let pieceSize = 64 << 10

    /// How much longer than its coding a body may be. Beyond that it counts as a decompression bomb.
    package struct Limits: Sendable {
        package var ratio: Int
        /// Short bodies may be as dense as they like: the harm is bounded.
        package var grace: Int64

        package init(ratio: Int, grace: Int64 = 16 << 20) {
            self.ratio = ratio
            self.grace = grace
        }
    }

    package enum Step: Equatable {
        /// So many bytes were made.
        case piece(Int)
        /// All input is taken, and nothing more can be made of it.
        case hungry
        /// The work allowed is done; there may be more.
        case tired
    }

    private struct Link {
        package let stage: CodingStage
        /// Where the bytes for this stage are, if they do not come from outside.
        package let page: UnsafeMutableRawBufferPointer
        package var waiting = 0..<0
        var produced: Int64 = 0
    }

    private let limits: Limits
    private var links: [Link] = []
    private var consumed: Int64 = 0

    /// - Parameter codings: In the order in which they were applied.
    package init(codings: [ContentCoding], limits: Limits) throws(ContentFailure) {
        self.limits = limits
        for coding in codings.reversed() {
            let stage = try CodingStage(coding)
            let size = links.isEmpty ? 0 : ContentDecoder.pieceSize
            links.append(Link(stage: stage, page: .allocate(byteCount: size, alignment: 64)))
        }
    }

    deinit {
        for link in links { link.page.deallocate() }
    }

    /// Makes the next piece.
    ///
    /// - Parameters:
    ///   - input: Loses what was taken from its front.
    ///   - output: As long as a piece.
    ///   - work: Bytes that may still be made or taken by all stages together. Ends below zero by one step at most.
    package func step(
        _ input: inout UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        work: inout Int
    ) throws(ContentFailure) -> Step {
        try pull(links.count - 1, input: &input, output: output, work: &work)
    }

    /// The chain is as deep as `ContentPlan` allows, five at most.
    private func pull(
        _ index: Int,
        input: inout UnsafeRawBufferPointer,
        output: UnsafeMutableRawBufferPointer,
        work: inout Int
    ) throws(ContentFailure) -> Step {
        while work > 0 {
            let offered = index == 0 ? input : UnsafeRawBufferPointer(rebasing: links[index].page[links[index].waiting])
            let (taken, made) = try links[index].stage.step(offered, into: output)
            work -= taken + made
            take(taken, at: index, input: &input)
            if made > 0 {
                try note(made, at: index)
                return .piece(made)
            }
            guard taken == offered.count else { continue }
            if index == 0 {
                // The bytes it has just taken may be all it lacked: ask it once more, with no input.
                if offered.isEmpty { return .hungry }
                continue
            }
            switch try pull(index - 1, input: &input, output: links[index].page, work: &work) {
            case .piece(let count): links[index].waiting = 0..<count
            case .hungry: return .hungry
            case .tired: return .tired
            }
        }
        return .tired
    }

    private func take(_ count: Int, at index: Int, input: inout UnsafeRawBufferPointer) {
        guard index == 0 else {
            links[index].waiting = (links[index].waiting.lowerBound + count)..<links[index].waiting.upperBound
            return
        }
        consumed += Int64(count)
        input = UnsafeRawBufferPointer(rebasing: input[count...])
    }

    /// Every stage counts: a body is a bomb even if a later stage shrinks what an earlier one has blown up.
    private func note(_ count: Int, at index: Int) throws(ContentFailure) {
        links[index].produced += Int64(count)
        let produced = links[index].produced
        guard produced <= limits.grace || produced / Int64(limits.ratio) < consumed else {
            throw .bomb(ratio: limits.ratio)
        }
    }

    /// The body is complete, and all of it was taken.
    package func finish() throws(ContentFailure) {
        for link in links where !link.stage.mayEnd { throw .truncated(link.stage.coding) }
    }
}

/// Where the decoder makes its pieces, for one body at a time. The caller copies a piece before it asks for the next,
/// so one page serves all bodies of a loop.
package final class ContentPage {
    package let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: ContentDecoder.pieceSize, alignment: 64)

    deinit {
        bytes.deallocate()
    }
}
