import AFBase
import Dispatch
public import Foundation
import Synchronization

/// Decodes pictures on threads of its own, a bounded number at once.
///
/// ```swift
/// let image = try await ImageDecodingQueue.shared.decode(data, scale: 2)
/// ```
///
/// Pictures are decoded in the order in which they came. The queue bounds how many are decoded at once, and how much
/// memory they take together; all others wait without a thread. ``ImageResponseSerializer`` waits in the same order, on
/// its calling thread.
public final class ImageDecodingQueue: Sendable {
    /// The queue that serializers use.
    public static let shared = ImageDecodingQueue()

    /// How many pictures are decoded at once.
    public let maximumDecodes: Int
    /// How much memory the pixels of the pictures being decoded may take together. One that needs more is decoded alone.
    public let maximumBytes: Int

    private struct Entry: Sendable {
        let begin: @Sendable () -> Void
        var isWanted: @Sendable () -> Bool = { true }
        var giveUp: @Sendable () -> Void = {}
    }

    private struct State: Sendable {
        var line: DecodingLine
        var entries: [Int: Entry] = [:]

        mutating func taken(_ ids: [Int]) -> [Entry] { ids.compactMap { entries.removeValue(forKey: $0) } }
    }

    private let state: Lock<State>
    private let lastID = Atomic(0)

    /// A queue of its own.
    ///
    /// - Parameters:
    ///   - maximumDecodes: How many pictures are decoded at once; by default as many as there are processors.
    ///   - maximumBytes: How much memory their pixels may take together; 512 MiB by default.
    public init(maximumDecodes: Int? = nil, maximumBytes: Int = 512 << 20) {
        self.maximumDecodes = max(maximumDecodes ?? ProcessInfo.processInfo.activeProcessorCount, 1)
        self.maximumBytes = max(maximumBytes, 0)
        state = Lock(State(line: DecodingLine(maximumDecodes: self.maximumDecodes, maximumBytes: self.maximumBytes)))
    }

    /// How many pictures are being decoded at present.
    public var activeDecodes: Int { state.withLock { $0.line.active } }

    // MARK: Decoding

    /// Decodes a picture, as ``Image/decode(_:scale:options:)`` does.
    ///
    /// - Throws: What is wrong with the picture; `CancellationError` if the Swift task was cancelled before its turn.
    public func decode(_ data: Data, scale: Double = 1, options: ImageDecodingOptions = .init()) async throws -> Image {
        try await decode(EncodedImage(data, scale: scale, options: options))
    }

    /// Decodes a picture, as ``EncodedImage/decode()`` does.
    ///
    /// - Throws: What is wrong with the picture; `CancellationError` if the Swift task was cancelled before its turn.
    public func decode(_ file: EncodedImage) async throws -> Image {
        try await result(cost: file.cost) { () throws(ImageError) in try file.decode() }
    }

    /// Decodes all frames, as ``EncodedImage/decodeFrames()`` does.
    ///
    /// - Throws: What is wrong with the picture; `CancellationError` if the Swift task was cancelled before its turn.
    public func decodeFrames(_ file: EncodedImage) async throws -> [ImageFrame] {
        try await result(cost: file.costOfFrames) { () throws(ImageError) in try file.decodeFrames() }
    }

    /// Decodes a picture, as ``EncodedImage/decode()`` does.
    ///
    /// - Parameters:
    ///   - file: The picture.
    ///   - completion: Called once, on a thread of the queue.
    public func decode(
        _ file: EncodedImage,
        completion: @escaping @Sendable (Result<Image, ImageError>) -> Void
    ) {
        let entry = entry(cost: file.cost) { completion(Result { () throws(ImageError) in try file.decode() }) }
        join(nextID(), cost: file.cost, entry: entry)
    }

    /// Decodes a picture on the calling thread, when it is its turn.
    func decodeNow(_ file: EncodedImage) throws(ImageError) -> Image {
        let turn = DispatchSemaphore(value: 0)
        let cost = file.cost
        join(nextID(), cost: cost, entry: Entry(begin: { turn.signal() }))
        turn.wait()
        defer { leave(cost: cost) }
        return try file.decode()
    }

    // MARK: Taking turns

    private func nextID() -> Int { lastID.wrappingAdd(1, ordering: .relaxed).newValue }

    private func result<Value: Sendable>(
        cost: Int,
        decode: @escaping @Sendable () throws(ImageError) -> Value
    ) async throws -> Value {
        let id = nextID()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
                var entry = entry(cost: cost) {
                    continuation.resume(with: Result { () throws(ImageError) in try decode() }.mapError { $0 })
                }
                entry.isWanted = { !Task.isCancelled }
                entry.giveUp = { continuation.resume(throwing: CancellationError()) }
                join(id, cost: cost, entry: entry)
            }
        } onCancel: {
            withdraw(id)
        }
    }

    private func entry(cost: Int, work: @escaping @Sendable () -> Void) -> Entry {
        Entry { [self] in
            // Not on a Dispatch queue: all threads of Dispatch may be waiting in `decodeNow` for their turn.
            Thread.detachNewThread { [self] in
                // For debuggers. On Linux Foundation names a thread only once it runs, and sometimes not at all.
                Thread.current.name = "AFImages"
                work()
                leave(cost: cost)
            }
        }
    }

    private func join(_ id: Int, cost: Int, entry: Entry) {
        let begun = state.withLock { state in
            // Checked under the lock: a later cancellation finds the entry.
            guard entry.isWanted() else { return [Entry]?.none }
            state.entries[id] = entry
            return state.taken(state.line.join(id, bytes: cost))
        }
        guard let begun else { return entry.giveUp() }
        for entry in begun { entry.begin() }
    }

    private func leave(cost: Int) {
        let begun = state.withLock { state in state.taken(state.line.leave(bytes: cost)) }
        for entry in begun { entry.begin() }
    }

    private func withdraw(_ id: Int) {
        let (gone, begun) = state.withLock { state in
            let (hasWaited, begin) = state.line.withdraw(id)
            return (hasWaited ? state.entries.removeValue(forKey: id) : nil, state.taken(begin))
        }
        gone?.giveUp()
        for entry in begun { entry.begin() }
    }
}
