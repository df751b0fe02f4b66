/// What callers chain to a request before it starts.
struct RequestOptions: Sendable {
    var validations: [Validation] = []
    var redirectHandler: (any RedirectHandler)?
    var dispositions: [@Sendable (HTTPResponse) -> ResponseDisposition] = []
    var authorization: HTTPHeader?
}
