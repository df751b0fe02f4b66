internal import Foundation

extension TransportRequest {
    /// - Throws: for what could not be sent as it is, or would write lines of its own.
    func check() throws {
        guard !self.method.isEmpty, self.method.utf8.allSatisfy(HTTPHeaders.isTokenCharacter) else {
            throw WiretapeError(.invalidRequest, "\"\(self.method)\" is no method: take one of HTTPMethod, as .get")
        }
        guard let scheme = self.url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw WiretapeError(
                .invalidRequest, "\"\(self.url.absoluteString)\" is no address of the web: begin it with \"https://\" or \"http://\"")
        }
        guard self.url.host?.isEmpty == false else {
            throw WiretapeError(.invalidRequest, "\"\(self.url.absoluteString)\" names no host: write one behind \"\(scheme)://\"")
        }
        try self.headers.validated()
    }
}
