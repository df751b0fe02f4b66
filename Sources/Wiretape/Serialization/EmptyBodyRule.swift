/// When a response may come without a body.
struct EmptyBodyRule: Sendable {
    static let requestMethods: Set<HTTPMethod> = [.head]
    static let responseCodes: Set<Int> = [204, 205]

    let requestMethods: Set<HTTPMethod>
    let responseCodes: Set<Int>

    func allows(method: HTTPMethod?, status: Int?) -> Bool {
        method.map(self.requestMethods.contains) ?? false || status.map(self.responseCodes.contains) ?? false
    }

    func check(method: HTTPMethod?, status: Int?) throws(SerializationError) {
        guard !self.allows(method: method, status: status) else { return }
        let what = "\(method.map { "\($0) " } ?? "")response\(status.map { " with the status \($0)" } ?? "")"
        throw SerializationError(
            .emptyBody,
            "the \(what) has no body: add the method to \"emptyRequestMethods\" or the status to \"emptyResponseCodes\" where that is right"
        )
    }
}
