import AFURLTypes
public import Foundation

extension URLSession {
    /// The pages of a list that a server sends in pieces, each with a link to the next one (`Link: <…>; rel="next"`).
    ///
    /// ```swift
    /// for try await (data, _) in session.pages(of: request) { add(try decoder.decode([Item].self, from: data)) }
    /// ```
    ///
    /// Each page is loaded when you ask for it. The pages end with one that names no next page, names one that was loaded
    /// before, or has another status than 2xx: look at its response. They throw ``/AFURLTypes/PageRefusal`` where there
    /// is a next page that is not loaded, and what ``data(for:delegate:)`` throws.
    ///
    /// - Parameters:
    ///   - request: For the first page. The others are asked for by GET, or by HEAD behind one, with its fields.
    ///   - limit: The most pages that are loaded.
    ///   - allowsOtherOrigins: Whether a page may lead to another origin than that of the first. Its requests then go
    ///   without what a redirect to another origin takes away, and without interceptors, which might add secrets.
    ///   - delegate: Hears about the tasks, as in ``data(for:delegate:)``.
    public func pages(
        of request: URLRequest,
        limit: Int = 1000,
        allowsOtherOrigins: Bool = false,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) -> Pages<(Data, HTTPURLResponse)> {
        // The delegate of a manager's session is held between the pages, too.
        let load = { @Sendable [self, sessionDelegate = lentDelegate] (request: URLRequest) in
            defer { withExtendedLifetime(sessionDelegate) {} }
            let (data, response) = try await data(for: request, delegate: delegate)
            guard let response = response as? HTTPURLResponse else { throw URLError(.unsupportedURL) }
            return ((data, response), response as URLResponse?)
        }
        return pages(of: request, limit: limit, allowsOtherOrigins: allowsOtherOrigins, load: load)
    }

    /// The same by another loader.
    package func pages<Page: Sendable>(
        of request: URLRequest,
        limit: Int,
        allowsOtherOrigins: Bool,
        load: @escaping @Sendable (URLRequest) async throws -> (Page, URLResponse?)
    ) -> Pages<Page> {
        let configuration = configuration
        let policy = request.redirectPolicy ?? configuration.redirectPolicy
        let trail = PageTrail(
            request,
            policy: policy,
            sessionSecrets: configuration.additionalSecrets(under: policy),
            limit: limit,
            allowsOtherOrigins: allowsOtherOrigins
        )
        return Pages(first: request, trail: trail, load: load)
    }
}

/// The pages of a list, one after the other: ``URLSession/pages(of:limit:allowsOtherOrigins:delegate:)``.
public struct Pages<Page: Sendable>: AsyncSequence, Sendable {
    /// A page.
    public typealias Element = Page

    let first: URLRequest
    let trail: PageTrail?
    let load: @Sendable (URLRequest) async throws -> (Page, URLResponse?)

    /// Loads the first page when it is asked for.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Loads page by page.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let load: @Sendable (URLRequest) async throws -> (Page, URLResponse?)
        private var trail: PageTrail?
        /// Nil at the end, and behind an error.
        private var coming: Result<URLRequest, PageRefusal>?

        init(_ pages: Pages) {
            (load, trail) = (pages.load, pages.trail)
            coming = .success(pages.first)
        }

        /// The next page; nil at the end.
        public mutating func next() async throws -> Page? {
            try await next(isolation: nil)
        }

        /// The next page; nil at the end. Does not leave the caller's actor but to load.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Page? {
            guard let present = coming else { return nil }
            coming = nil
            let (page, response) = try await load(present.get())
            do throws(PageRefusal) {
                guard let response = response as? HTTPURLResponse else { return page }
                coming = try trail?.next(after: response).map { .success($0) }
            } catch {
                coming = .failure(error)
            }
            return page
        }
    }
}
