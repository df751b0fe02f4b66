public import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension Session {
    // MARK: Data

    /// A request with octets for a body. Their Content-Type is the caller's to say.
    public func upload(
        _ data: Data, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        self.upload(UploadTarget(url, method, headers, requestModifier), interceptor) { _ in RequestContent(body: .data(data)) }
    }

    /// In place of a body that the request has.
    public func upload(
        _ data: Data, with request: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil
    ) -> UploadRequest {
        self.upload(UploadTarget(request), interceptor) { _ in RequestContent(body: .data(data)) }
    }

    // MARK: File

    /// A request with a file for a body, which is read as it goes out and must stay as it is until the request is over.
    public func upload(
        _ fileURL: URL, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        self.upload(UploadTarget(url, method, headers, requestModifier), interceptor) { _ in try RequestContent(file: fileURL) }
    }

    public func upload(
        _ fileURL: URL, with request: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil
    ) -> UploadRequest {
        self.upload(UploadTarget(request), interceptor) { _ in try RequestContent(file: fileURL) }
    }

    // MARK: Stream

    /// A request with a stream for a body. It is read to its end into a temporary file before anything goes out, so that it can be compared,
    /// recorded and sent again.
    ///
    /// - Parameter stream: not opened yet, and nobody else's from now on.
    public func upload(
        _ stream: InputStream, to url: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        self.upload(stream, UploadTarget(url, method, headers, requestModifier), interceptor)
    }

    public func upload(
        _ stream: InputStream, with request: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil
    ) -> UploadRequest {
        self.upload(stream, UploadTarget(request), interceptor)
    }

    // MARK: Form

    /// A request with a form for a body (RFC 7578).
    ///
    /// - Parameter threshold: octets up to which it is encoded in memory; a larger one goes into a temporary file, which is removed when the
    ///   request is over. Nil takes the configuration's.
    public func upload(
        multipartFormData form: MultipartFormData, to url: any URLConvertible, usingThreshold threshold: Int? = nil,
        method: HTTPMethod = .post, headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        self.upload(form: { form }, threshold, UploadTarget(url, method, headers, requestModifier), interceptor)
    }

    /// A form that the closure fills when the request starts; what it throws is the request's error.
    public func upload(
        multipartFormData fill: @escaping @Sendable (inout MultipartFormData) throws -> Void, to url: any URLConvertible,
        usingThreshold threshold: Int? = nil, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        self.upload(form: Self.form(fill), threshold, UploadTarget(url, method, headers, requestModifier), interceptor)
    }

    public func upload(
        multipartFormData form: MultipartFormData, with request: any URLRequestConvertible, usingThreshold threshold: Int? = nil,
        interceptor: (any RequestInterceptor)? = nil
    ) -> UploadRequest {
        self.upload(form: { form }, threshold, UploadTarget(request), interceptor)
    }

    public func upload(
        multipartFormData fill: @escaping @Sendable (inout MultipartFormData) throws -> Void, with request: any URLRequestConvertible,
        usingThreshold threshold: Int? = nil, interceptor: (any RequestInterceptor)? = nil
    ) -> UploadRequest {
        self.upload(form: Self.form(fill), threshold, UploadTarget(request), interceptor)
    }

    // MARK: Making

    private static func form(
        _ fill: @escaping @Sendable (inout MultipartFormData) throws -> Void
    ) -> @Sendable () throws -> MultipartFormData {
        {
            var form = MultipartFormData()
            try fill(&form)
            return form
        }
    }

    private func upload(
        form: @escaping @Sendable () throws -> MultipartFormData, _ threshold: Int?, _ target: UploadTarget,
        _ interceptor: (any RequestInterceptor)?
    ) -> UploadRequest {
        let threshold = threshold ?? self.configuration.multipartThreshold
        return self.upload(target, isBlocking: true, interceptor) { try RequestContent(try form(), threshold: threshold, folder: $0) }
    }

    private func upload(_ stream: InputStream, _ target: UploadTarget, _ interceptor: (any RequestInterceptor)?) -> UploadRequest {
        let stream = OwnedStream(stream)
        return self.upload(target, isBlocking: true, interceptor) { try RequestContent(spooling: stream.stream, folder: $0) }
    }

    private func upload(
        _ target: UploadTarget, isBlocking: Bool = false, _ interceptor: (any RequestInterceptor)?,
        _ content: @escaping @Sendable (_ folder: URL?) throws -> RequestContent
    ) -> UploadRequest {
        let folder = self.configuration.temporaryFolder
        let source = target.source({ try content(folder) }, isBlocking: isBlocking, spoolFolder: folder)
        return UploadRequest(core: self.core, source: source, interceptor: interceptor, sink: .memory)
    }
}

/// A stream that was given to a request for good.
// SAFETY: touched once, by the one task that spools it; its giver was told that it is not theirs any more.
struct OwnedStream: @unchecked Sendable {
    let stream: InputStream

    init(_ stream: InputStream) { self.stream = stream }
}

/// Where a body goes: a URL with a method and fields, or a request of somebody's.
enum UploadTarget: Sendable {
    case plain(any URLConvertible, HTTPMethod, HTTPHeaders?, RequestSource.Modifier?)
    case converted(any URLRequestConvertible)

    init(_ url: any URLConvertible, _ method: HTTPMethod, _ headers: HTTPHeaders?, _ modifier: RequestSource.Modifier?) {
        self = .plain(url, method, headers, modifier)
    }

    init(_ request: any URLRequestConvertible) { self = .converted(request) }

    func source(_ content: @escaping @Sendable () throws -> RequestContent, isBlocking: Bool, spoolFolder: URL?) -> RequestSource {
        switch self {
        case .plain(let url, let method, let headers, let modifier):
            .plain(url, method, headers, body: content, isBlocking: isBlocking, modifier)
        case .converted(let request): .converted(request, body: content, isBlocking: isBlocking, spoolFolder: spoolFolder)
        }
    }
}
