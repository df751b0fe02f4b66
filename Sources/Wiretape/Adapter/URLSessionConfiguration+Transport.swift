#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLSessionConfiguration {
    /// A configuration whose sessions are answered by a transport, whatever they request: nothing else of theirs reaches the network.
    ///
    /// For clients that make their requests with a `URLSession` of their own. Requests carry no mark, and sessions with other
    /// configurations are not affected. What can be answered, and how, on Linux and on Apple's platforms:
    ///
    /// | | Linux | Apple |
    /// |---|---|---|
    /// | data tasks, with completion handler, delegate or `await` | yes | yes |
    /// | uploads of data, files and streams | yes; the body is found by reflection, and is `RequestBody.unobservable` if a toolchain hides it | yes; a stream made by a delegate is `RequestBody.unobservable` |
    /// | download tasks | fail with an error: the process would crash | yes |
    /// | web sockets | fail with an error | not intercepted: the system connects them itself |
    /// | pieces of a body one by one | to delegates; a completion handler gets the whole body | yes |
    /// | redirects | followed here; the task's delegate is asked, `currentRequest` does not change | the system's |
    /// | 401 | an ordinary response without a challenge; stored credentials are not used | no challenge |
    /// | `httpAdditionalHeaders`, cookies stored and sent, time limits, upload progress | as without Wiretape; limits below a second work too | cookies and time limits as without Wiretape; no upload progress |
    /// | caches, metrics, download progress of the task | none | as the system does for custom protocols |
    ///
    /// Response headers are unchanged: a body with a Content-Encoding is decoded and the field stays, as with URLSession.
    /// Duplicate fields are joined; `HTTPURLResponse.exactHead` has them apart. Interim responses and trailers are left out. A failure of
    /// the network is a `URLError`, all others are an `NSError` of `TransportFailure.errorDomain`; `TransportFailure(error)` recovers the
    /// failure. `protocolClasses` and `urlCache` of the base are ignored; with a background one, which Apple's platforms have, each task fails. Do not change
    /// `connectionProxyDictionary`: it keeps the transport alive. On Apple's platforms there is never a trust or client certificate
    /// challenge.
    ///
    /// - Parameters:
    ///   - transport: makes the responses. Started on a queue of its own.
    ///   - base: copied; an ephemeral one shares no cookies and no credentials with other tests.
    ///   - inPlace: the transport is started on the queue that all URL sessions of a process share on Linux, and answers a third faster. It
    ///     must neither block there nor use a `URLSession`.
    public static func answered(
        by transport: any Transport, basedOn base: URLSessionConfiguration = .ephemeral, inPlace: Bool = false
    ) -> URLSessionConfiguration {
        // Sessions with a background configuration ignore our classes.
        let configuration = base.isBackground ? .ephemeral : base.copy() as? URLSessionConfiguration ?? .ephemeral
        let transport = base.isBackground ? LiveTransport(configuration: base) : transport
        // Before there are requests: it creates tasks, which is not allowed where URLSession calls.
        #if canImport(FoundationNetworking)
        _ = TaskReflection.current
        #endif
        // On Linux a cache changes the order in which requests arrive.
        configuration.urlCache = nil
        let session = AdaptedSession(transport, isInPlace: inPlace, configuration: configuration)
        configuration.protocolClasses = [SessionProtocols.shared.add(session)]
        return configuration
    }
}

extension URLSessionConfiguration {
    /// A configuration whose sessions are answered from a cassette, in any mode of it: none of their requests reaches the network.
    ///
    ///     let session = URLSession(configuration: .replaying(cassette))
    ///
    /// A request that no recorded exchange matches fails with the report of the miss as its description. Custom matches of the cassette's
    /// settings run on the queue of URLSession: they must not use it. The configuration and its sessions hold the cassette. See
    /// `answered(by:basedOn:inPlace:)` for what the platforms allow.
    ///
    /// - Parameter base: copied; an ephemeral one shares no cookies and no credentials with other tests.
    public static func replaying(_ cassette: Cassette, basedOn base: URLSessionConfiguration = .ephemeral) -> URLSessionConfiguration {
        let replay = ReplayTransport(cassette)
        let stubs = cassette.settings.stubs
        return .answered(
            by: stubs.isEmpty ? replay : StubbedTransport(stubs, before: replay, of: cassette), basedOn: base, inPlace: stubs.isEmpty)
    }

    /// A configuration whose sessions replay or record, according to the cassette's mode.
    ///
    /// Requests go to the network through the cassette's `transport`, so that time limits, cookies and redirects are handled once. A
    /// request whose body cannot be read fails instead of being recorded without it. Close the cassette when all tasks have ended.
    ///
    /// - Parameter base: copied; an ephemeral one shares no cookies and no credentials with other tests.
    public static func recording(_ cassette: Cassette, basedOn base: URLSessionConfiguration = .ephemeral) -> URLSessionConfiguration {
        let transport = cassette.transport
        return .answered(by: transport, basedOn: base, inPlace: transport is ReplayTransport)
    }
}
