import Foundation
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Uploads through a `HTTPSession`, in each way that it has.
public struct PetUploads: Sendable {
    private let url: URL
    private let session: HTTPSession

    public init(_ url: URL, session: HTTPSession = HTTPSession()) {
        self.url = url.appendingPathComponent("upload")
        self.session = session
    }

    /// A data task with the body in the request.
    public func inRequest(_ form: HandMadeForm) async throws -> Receipt {
        var request = URLRequest(url: self.url)
        request.httpMethod = "POST"
        request.setValue(form.contentType, forHTTPHeaderField: "Content-Type")
        request.httpBody = form.body
        return try await self.receipt(of: self.session.request(request))
    }

    /// An upload task with the body beside the request.
    public func besideRequest(_ form: HandMadeForm) async throws -> Receipt {
        try await self.receipt(of: self.session.upload(form.body, to: self.url, headers: [.contentType(form.contentType)]))
    }

    public func fromFile(_ form: HandMadeForm) async throws -> Receipt {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("seeds-\(UUID()).multipart")
        try form.body.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await self.receipt(of: self.session.upload(file, to: self.url, headers: [.contentType(form.contentType)]))
    }

    public func fromStream(_ form: HandMadeForm) async throws -> Receipt {
        let stream = InputStream(data: form.body)
        return try await self.receipt(of: self.session.upload(stream, to: self.url, headers: [.contentType(form.contentType)]))
    }

    /// The session's own form.
    ///
    /// - Parameter threshold: the size above which it is written to a file before it is sent.
    public func form(
        threshold: Int? = nil, progress: @escaping @Sendable (TransferProgress) -> Void = { _ in },
        _ fill: @escaping @Sendable (inout FormData) throws -> Void
    ) async throws -> Receipt {
        let request = self.session.upload(multipartFormData: fill, to: self.url, usingThreshold: threshold)
        // Unlike a closure on a queue, it has ended when the receipt is there.
        let steps = request.uploadProgress()
        async let watching: Void = { for await step in steps { progress(step) } }()
        let receipt = try await self.receipt(of: request)
        await watching
        return receipt
    }

    private func receipt(of request: HTTPSession.DataRequest) async throws -> Receipt {
        try await request.validate().serializingDecodable(Receipt.self).value
    }
}
