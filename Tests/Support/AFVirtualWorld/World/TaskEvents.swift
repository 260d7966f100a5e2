package import AFURLSession
package import Foundation

/// A task, and what was heard about it.
package struct TaskEvents {
    package let task: URLSessionDataTask
    package let recorder: EventRecorder

    package init(task: URLSessionDataTask, recorder: EventRecorder) {
        self.task = task
        self.recorder = recorder
    }

    package var record: TaskRecord { recorder.record(of: task.taskIdentifier) }
    /// Without upload progress and metrics, neighbouring data joined.
    package var all: [TaskEvent] { record.summary }
    package var error: URLError? { record.error }
    package var body: String { String(decoding: record.body, as: UTF8.self) }
    package var isComplete: Bool { record.completions > 0 }
}
