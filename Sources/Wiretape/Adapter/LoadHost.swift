internal import Foundation

/// What a load needs of the task that it answers, and of the session around it.
struct LoadHost: Sendable {
    /// Asks the delegate of the task about a redirect: nil as the answer takes the redirect itself for the response.
    typealias RedirectDecision = @Sendable (
        _ response: HTTPResponse, _ proposed: TransportRequest, _ decide: @escaping @Sendable (TransportRequest?) -> Void
    ) -> Void

    /// Has the load called back where answers may be given.
    var comeBack: @Sendable () -> Void
    /// Redirects are followed here: the system of this platform cannot be told of one. Where it can, they are its own.
    var followsRedirects = true
    /// Nil where nobody wants to be asked: then redirects are followed.
    var decideRedirect: RedirectDecision?
    /// So many octets of the body have gone out, of all.
    var sent: @Sendable (_ count: Int64, _ total: Int64) -> Void = { _, _ in }
    var cookies: LoadCookies?
    /// Each piece of the body is wanted when it comes. Asked where URLSession calls, and only where it makes a difference.
    var takesPieces: @Sendable () -> Bool = { false }
    /// An answer may take so long between two signs of life, and so long as a whole.
    var limits = LoadTimeLimits()
    /// Waits, and then calls.
    var timer: @Sendable (_ after: Duration, _ call: @escaping @Sendable () -> Void) -> Void
    /// Monotonic.
    var now: @Sendable () -> Duration
    /// Runs what must not run where URLSession calls.
    var elsewhere: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void
}
