import Dispatch
import Foundation

extension HTTPSessionManager {
    /// The arguments of a verb.
    struct Call {
        let method: String
        let urlString: String
        let parameters: Any?
        let headers: [String: String]?
        var form: ((any MultipartFormData) -> Void)?
        var upload: ProgressHandler?
        var download: ProgressHandler?

        init(
            _ method: String,
            _ urlString: String,
            _ parameters: Any?,
            _ headers: [String: String]?,
            form: ((any MultipartFormData) -> Void)? = nil,
            upload: ProgressHandler? = nil,
            download: ProgressHandler? = nil
        ) {
            self.method = method
            self.urlString = urlString
            self.parameters = parameters
            self.headers = headers
            self.form = form
            self.upload = upload
            self.download = download
        }
    }

    func start(_ call: Call, _ success: Success?, _ failure: Failure?) -> URLSessionDataTask? {
        let task = make(call, success, failure)
        task?.resume()
        return task
    }

    func make(_ call: Call, _ success: Success?, _ failure: Failure?) -> URLSessionDataTask? {
        do {
            return makeTask(call, for: try request(for: call)) { task, _, object, error in
                if let error { failure?(task, error) } else { success?(task, object) }
            }
        } catch {
            let error = error
            complete { failure?(nil, error) }
            return nil
        }
    }

    func makeTask(
        _ call: Call,
        for request: URLRequest,
        _ options: TaskRecord.Options = TaskRecord.Options(),
        _ completion: @escaping @Sendable (URLSessionDataTask, URLResponse?, Any?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        let isForm = call.form != nil && request.httpBodyStream != nil
        guard mayHaveOverrides else {
            // Nothing is overridden: make the task directly, which costs less.
            let watchers = TaskRecord.Watchers(upload: call.upload, download: call.download)
            var options = options
            options.verb = completion
            return make({ isForm ? $0.uploadTask(withStreamedRequest: request) : $0.dataTask(with: request) }) {
                TaskRecord($0, watchers, options, completion: nil)
            }
        }
        // The handler is called with its own task, which can only be made once there is a handler: `made` has the task
        // later.
        let made = TaskBeingMade(options, by: self)
        let handler: TaskCompletionHandler = { response, object, error in
            let outcome = TaskEnding.Outcome(object: object, error: error)
            made.withTask { completion($0, response, outcome.object, outcome.error) }
        }
        return made.make(by: self) {
            if isForm {
                uploadTask(withStreamedRequest: request, progress: call.upload, completionHandler: handler)
            } else {
                dataTask(
                    with: request,
                    uploadProgress: call.upload,
                    downloadProgress: call.download,
                    completionHandler: handler
                )
            }
        }
    }

    // MARK: - Requests

    func request(for call: Call) throws -> URLRequest {
        let configuration = sessionConfiguration
        var (request, leavesBase) = try requestSerializer.request(
            call.method,
            call.urlString,
            relativeTo: baseURL,
            call.parameters,
            form: call.form,
            keeping: configuration.redirectPolicy
        )
        if leavesBase {
            let names = (configuration.httpAdditionalHeaders ?? [:]).keys.compactMap { $0 as? String }
            request.withheldHeaderFields.formUnion(names.filter(configuration.redirectPolicy.withholds))
        }
        for (name, value) in call.headers ?? [:] { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }
}
