internal import CassetteModel

/// Which message of an exchange a body belongs to.
enum MessageChoice: String, Sendable, CaseIterable {
    case request, response
}

extension Interaction {
    /// The body of a message, if it has one, and the message's fields.
    func body(of message: MessageChoice) -> (body: Body?, headers: HeaderFields) {
        switch message {
        case .request: (self.request.body, self.request.headers)
        case .response: (self.response?.body, self.response?.headers ?? HeaderFields())
        }
    }
}
