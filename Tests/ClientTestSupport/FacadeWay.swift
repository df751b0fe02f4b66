internal import Foundation
package import Wiretape

/// A session of Wiretape with only a transport of its own, used as its users do: uploads from files and streams, downloads to a file, and
/// reported progress.
package struct FacadeWay: Way {
    package let kind: WayKind
    private let session: HTTPSession
    /// Closures are called on it, one after another.
    private let queue = DispatchQueue(label: "behaviour")

    package init(_ kind: WayKind, _ transport: any Transport) {
        self.kind = kind
        var configuration = HTTPSession.Configuration()
        configuration.headers = [:]
        configuration.cookieStorage = nil
        configuration.redirectHandler = HTTPSession.Redirector.doNotFollow
        self.session = HTTPSession(configuration: configuration, transport: transport)
    }

    package func lines(of behaviour: Behaviour, at origin: String) async throws -> [String] {
        let log = EventLog()
        let url = origin + behaviour.path
        let method = HTTPSession.Method(rawValue: behaviour.method)
        let headers = HTTPSession.Headers(behaviour.headers.map { HTTPSession.Header(name: $0.0, value: $0.1) })
        switch behaviour.body {
        case .none where behaviour.isDownload:
            await self.send(self.session.download(url, method: method, headers: headers), log)
        case .none: await self.send(self.session.request(url, method: method, headers: headers), behaviour, log)
        case .data(let data):
            await self.send(self.session.upload(data, to: url, method: method, headers: headers), behaviour, log)
        case .file(let data):
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-\(UUID().uuidString)")
            try data.write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            await self.send(self.session.upload(file, to: url, method: method, headers: headers), behaviour, log)
        case .stream(let data):
            await self.send(self.session.upload(InputStream(data: data), to: url, method: method, headers: headers), behaviour, log)
        }
        return log.lines(of: behaviour, at: origin)
    }

    private func send(_ request: HTTPSession.DataRequest, _ behaviour: Behaviour, _ log: EventLog) async {
        request.uploadProgress(queue: self.queue) { progress in
            _ = log.receive(.sent(progress.completedUnitCount, of: progress.totalUnitCount ?? -1))
        }
        if behaviour.cancelsAfter != nil, !self.kind.waitsForTheEnd {
            request.downloadProgress(queue: self.queue) { progress in if progress.completedUnitCount > 0 { request.cancel() } }
        }
        await withCheckedContinuation { continuation in
            request.response(queue: self.queue) { response in
                Self.tell(log, response.response, response.data, response.trailers, response.error)
                continuation.resume()
            }
        }
    }

    private func send(_ request: HTTPSession.DownloadRequest, _ log: EventLog) async {
        await withCheckedContinuation { continuation in
            request.response(queue: self.queue) { response in
                let data = response.fileURL.flatMap { try? Data(contentsOf: $0) }
                Self.tell(log, response.response, data, response.trailers, response.error)
                if let file = response.fileURL { try? FileManager.default.removeItem(at: file) }
                continuation.resume()
            }
        }
    }

    private static func tell(
        _ log: EventLog, _ head: HTTPSession.Response?, _ body: Data?, _ trailers: HTTPSession.Headers, _ error: WiretapeError?
    ) {
        if let head { _ = log.receive(.head(head)) }
        if let body { _ = log.receive(.chunk(body)) }
        if !trailers.isEmpty { _ = log.receive(.trailers(trailers)) }
        guard let error else { return _ = log.receive(.end) }
        _ = log.receive(.failed(error.isCancelled ? .cancelled() : error.transportFailure ?? TransportFailure(.unsupported, error.message)))
    }
}
