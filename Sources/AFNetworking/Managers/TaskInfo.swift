import AFBase
import Foundation

/// The user info of a notification, made by filling in a copy of a dictionary that has the same keys. To hash six long
/// keys for each task would cost as much as half of a small request.
struct TaskInfo {
    let serializer: any URLResponseSerialization
    let object: Any?
    let error: (any Error)?
    let metrics: URLSessionTaskMetrics?
    let file: URL?
    let body: Data?

    private static let keys = [
        Notification.NetworkingTaskKey.responseSerializer, Notification.NetworkingTaskKey.serializedResponse,
        Notification.NetworkingTaskKey.error, Notification.NetworkingTaskKey.sessionTaskMetrics,
        Notification.NetworkingTaskKey.assetPath, Notification.NetworkingTaskKey.responseData,
    ]

    /// A dictionary with some of the keys, and where each stands in it.
    private struct Shape {
        let dictionary: [AnyHashable: Any]
        let places: [Dictionary<AnyHashable, Any>.Index?]

        init(_ bits: Int) {
            let keys = TaskInfo.keys.enumerated().filter { bits & 1 << $0.offset != 0 }.map(\.element)
            let dictionary = Dictionary(uniqueKeysWithValues: keys.map { (AnyHashable($0), 0 as Any) })
            self.dictionary = dictionary
            places = TaskInfo.keys.map { dictionary.index(forKey: AnyHashable($0)) }
        }
    }

    private static let shapes = Lock([Shape?](repeating: nil, count: 64))

    private var shape: Shape {
        let bits =
            1 | (object == nil ? 0 : 2) | (error == nil ? 0 : 4) | (metrics == nil ? 0 : 8) | (file == nil ? 0 : 16)
            | (body == nil ? 0 : 32)
        return TaskInfo.shapes.withLock { shapes in
            let shape = shapes[bits] ?? Shape(bits)
            shapes[bits] = shape
            return shape
        }
    }

    var dictionary: [AnyHashable: Any] {
        let shape = shape
        var info = shape.dictionary
        if let place = shape.places[0] { info.values[place] = serializer }
        if let place = shape.places[1], let object { info.values[place] = object }
        if let place = shape.places[2], let error { info.values[place] = error }
        if let place = shape.places[3], let metrics { info.values[place] = metrics }
        if let place = shape.places[4], let file { info.values[place] = file }
        if let place = shape.places[5], let body { info.values[place] = body }
        return info
    }
}
