#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLSessionConfiguration {
    /// A configuration whose sessions get all their responses from a transport. None of their requests reaches the network in another way.
    ///
    /// For clients that make their requests with a `URLSession` of their own. Requests carry no mark, and sessions with other
    /// configurations are not affected. This is what works on Linux and on Apple's platforms:
    ///
    /// | | Linux | Apple |
    /// |---|---|---|
    /// | data tasks, with completion handler, delegate or `await` | yes | yes |
    /// | uploads of data, files and streams | yes; the body is found by reflection, and is `RequestBody.unobservable` if a toolchain hides it | yes; a stream made by a delegate is `RequestBody.unobservable` |
    /// | download tasks | fail with an error: the process would crash | yes |
    /// | web sockets | fail with an error | not intercepted: the system connects them itself |
    /// | pieces of a body as they arrive | to delegates; a completion handler gets the whole body | yes |
    /// | redirects | followed by Wiretape; the task's delegate is asked, `currentRequest` does not change | followed by the system |
    /// | 401 | an ordinary response without a challenge; stored credentials are not used | no challenge |
    /// | `httpAdditionalHeaders`, cookies stored and sent, time limits, upload progress | as without Wiretape; limits below a second work too | cookies and time limits as without Wiretape; no upload progress |
    /// | caches, metrics, download progress of the task | none | as the system does for custom protocols |
    ///
    /// Response headers are unchanged: a body with a Content-Encoding is decoded and the field stays, as with URLSession.
    /// Duplicate fields are joined; `HTTPURLResponse.exactHead` keeps them apart. Interim responses and trailers are dropped. A network
    /// failure is a `URLError`; any other failure is an `NSError` of `TransportFailure.errorDomain`. `TransportFailure(error)` recovers the
    /// failure. The base's `protocolClasses` and `urlCache` are ignored. With a background configuration, which only Apple's platforms
    /// have, every task fails. Do not change `connectionProxyDictionary`: it keeps the transport alive. On Apple's platforms there is never
    /// a challenge for server trust or a client certificate.
    ///
    /// - Parameters:
    ///   - transport: produces the responses. It is started on a queue of its own.
    ///   - base: copied; an ephemeral one shares no cookies and no credentials with other tests.
    ///   - inPlace: starts the transport on the queue that all URL sessions of a process share on Linux, which is a third faster. The
    ///     transport must then neither block nor use a `URLSession`.
    public static func answered(
        by transport: any Transport, basedOn base: URLSessionConfiguration = .ephemeral, inPlace: Bool = false
    ) -> URLSessionConfiguration {
        // Sessions with a background configuration ignore our classes.
        let configuration = base.isBackground ? .ephemeral : base.copy() as? URLSessionConfiguration ?? .ephemeral
        let transport = base.isBackground ? LiveTransport(configuration: base) : transport
        // Verify before there are requests: this creates tasks, which is not allowed on URLSession's thread.
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
    /// A configuration whose sessions are answered from a cassette, whatever its mode. None of their requests reaches the network.
    ///
    ///     let session = URLSession(configuration: .replaying(cassette))
    ///
    /// A request that no recorded exchange matches fails, and the error's description is the report of the miss. The custom matches in the
    /// cassette's settings run on URLSession's queue and must not use a `URLSession`. The configuration and its sessions retain the
    /// cassette. See `answered(by:basedOn:inPlace:)` for what the platforms allow.
    ///
    /// - Parameter base: copied; an ephemeral one shares no cookies and no credentials with other tests.
    public static func replaying(_ cassette: Cassette, basedOn base: URLSessionConfiguration = .ephemeral) -> URLSessionConfiguration {
        let replay = cassette.before(ReplayTransport(cassette))
        return .answered(by: replay, basedOn: base, inPlace: replay is ReplayTransport)
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
