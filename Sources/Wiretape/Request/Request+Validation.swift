internal import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension Request {
    /// Adds a rule that the answer has to follow; in order, the first that does not hold is the request's error. To be called before the
    /// request starts.
    @discardableResult
    public func validate(_ validation: Validation) -> Self {
        self.data.withLock { $0.options.validations.append(validation) }
        return self
    }

    /// Statuses 200 to 299, and a content type that the request's `Accept` asks for.
    @discardableResult
    public func validate() -> Self { self.validate(.default) }

    @discardableResult
    public func validate(statusCode acceptable: some Sequence<Int>) -> Self { self.validate(.statusCode(acceptable)) }

    @discardableResult
    public func validate(contentType acceptable: some Sequence<String>) -> Self { self.validate(.contentType(acceptable)) }

    /// What a rule has against the answer; nil for nothing.
    func rejection() -> WiretapeError? {
        let (validations, sent, response, body) = self.data.withLock { ($0.options.validations, $0.sent, $0.response, $0.body) }
        guard !validations.isEmpty, let sent, let response else { return nil }
        let data: Data? = if case .memory = self.sink { body } else { nil }
        let request = URLRequest(sent)
        for validation in validations {
            do {
                try validation.validate(request: request, response: response, data: data)
            } catch {
                let error = WiretapeError(error, as: .validation)
                self.core.emit(.validated(error: error), of: self)
                return error
            }
        }
        self.core.emit(.validated(error: nil), of: self)
        return nil
    }
}
