internal import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension Request {
    /// Whether an answer leads elsewhere, or wants to.
    static func isRedirect(_ request: TransportRequest, _ response: HTTPResponse, hops: Int) -> Bool {
        guard (300...399).contains(response.status) else { return false }
        return RedirectRule().decide(method: request.method, url: request.url, response: response, hops: hops) != .stay
    }

    /// Follows the redirect that has come, or takes it for the answer.
    ///
    /// - Parameter isCut: whether its body was too long to be kept.
    func redirect(isCut: Bool) {
        let (bare, response, hops, own) = self.data.withLock { ($0.bare, $0.response, $0.redirects.count, $0.options.redirectHandler) }
        guard let bare, let response else { return }
        let proposed: TransportRequest
        let refusal: RedirectError?
        switch RedirectRule().decide(method: bare.method, url: bare.url, response: response, hops: hops) {
        case .stay: return self.takeRedirect(isCut: isCut)
        case .follow(let redirect): (proposed, refusal) = (redirect.request(following: bare), nil)
        case .refuse(let error): (proposed, refusal) = (bare, error)
        }
        guard let handler = own ?? self.core.configuration.redirectHandler else {
            if let refusal { return self.finish(WiretapeError(refusal, as: .redirect)) }
            return self.follow(to: proposed, from: response)
        }
        self.work { await $0.ask(handler, to: proposed, refusal, from: response, isCut: isCut) }
    }

    /// - Parameter refusal: why nothing is proposed but the same once more: a handler may take the redirect for the answer then, or, where
    ///   there were not too many, send the request elsewhere.
    private func ask(
        _ handler: any RedirectHandler, to proposed: TransportRequest, _ refusal: RedirectError?, from response: HTTPResponse, isCut: Bool
    ) async {
        let view = URLRequest(proposed)
        guard let wanted = await handler.redirect(response, to: view, for: self.context()) else { return self.takeRedirect(isCut: isCut) }
        if let refusal, refusal.code == .tooManyRedirects || wanted == view { return self.finish(WiretapeError(refusal, as: .redirect)) }
        do {
            let next = try proposed.adapted(from: view, to: wanted)
            try next.check()
            self.follow(to: next, from: response)
        } catch {
            self.finish(WiretapeError(error, as: .redirect))
        }
    }

    private func follow(to next: TransportRequest, from response: HTTPResponse) {
        self.data.withLock { data in
            if let sent = data.sent { data.redirects.append(RedirectHop(request: sent, response: response)) }
        }
        self.core.emit(.redirected(from: response, to: URLRequest(next)), of: self)
        self.send(next)
    }

    /// The handler wants no other answer.
    private func takeRedirect(isCut: Bool) {
        guard !isCut else {
            return self.finish(
                WiretapeError(
                    .redirect,
                    "the redirect's body has more than \(Self.redirectBodyLimit) octets, so that it cannot be the answer: follow it"))
        }
        let (response, body) = self.data.withLock { data in
            data.isRedirect = false
            data.download.begin(total: Int64(data.body.count))
            data.download.advance(by: data.body.count)
            return (data.response, data.body)
        }
        guard let response else { return }
        self.core.emit(.redirected(from: response, to: nil), of: self)
        do {
            switch self.sink {
            case .memory: break
            case .file(let file): try file.write(body)
            case .stream(let hub):
                if let error = self.rejection() { return self.retryOrFinish(error) }
                if !body.isEmpty { hub.push(body) }
            }
            self.conclude()
        } catch {
            self.finish(WiretapeError(error, as: .file))
        }
    }
}
