#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLSessionConfiguration {
    /// A configuration whose sessions are answered by a transport, whatever they request: nothing else of theirs reaches the network.
    ///
    /// For clients that make their requests with a `URLSession` of their own. Each configuration is told apart by itself: requests carry no
    /// mark, and sessions of others are not touched. What can be answered, and how, on Linux and on Apple's platforms:
    ///
    /// | | Linux | Apple |
    /// |---|---|---|
    /// | data tasks, with completion handler, delegate or `await` | yes | yes |
    /// | uploads of data, files and streams | yes; the body is found by reflection, and where a toolchain hides it it is `RequestBody.unobservable` | yes; a stream made by a delegate is `RequestBody.unobservable` |
    /// | download tasks | fail with a sentence: the process would die | yes |
    /// | web sockets | fail with a sentence | not taken: the system connects them itself |
    /// | pieces of a body one by one | to delegates; whoever has a completion handler gets them as one | yes |
    /// | redirects | followed here; the task's delegate is asked, `currentRequest` does not change | the system's |
    /// | 401 | an answer as any other: no challenge comes, stored credentials are not used | no challenge comes |
    /// | `httpAdditionalHeaders`, cookies stored and sent, time limits, upload progress | as without us, and limits below a second work | cookies and time limits as without us; no upload progress |
    /// | caches, metrics, download progress of the task | none | as the system does for loads that are not its own |
    ///
    /// Response headers are those of the answer: a body that came with a Content-Encoding is given without it and the field stays, as
    /// with URLSession. Duplicate fields are joined; `HTTPURLResponse.exactHead` has them apart. Interim responses and trailers are left
    /// out. A failure of the network comes as `URLError`, all others as `NSError` of `TransportFailure.errorDomain`; `TransportFailure(error)`
    /// gives back what they were made of. What is set in `protocolClasses`, `urlCache` and, on Apple's platforms, a background identifier
    /// is not taken over; `connectionProxyDictionary` is to be left as it is, since the transport is kept alive by it. On Apple's platforms a trust or client certificate challenge never comes.
    ///
    /// - Parameters:
    ///   - transport: answers. Started on a queue of its own.
    ///   - base: copied; an ephemeral one shares no cookies and no credentials with other tests.
    ///   - inPlace: the transport is started on the queue that all URL sessions of a process share on Linux, and answers a third faster. It
    ///     must not block there, nor use a `URLSession`.
    public static func answered(
        by transport: any Transport, basedOn base: URLSessionConfiguration = .ephemeral, inPlace: Bool = false
    ) -> URLSessionConfiguration {
        let configuration = base.foreground
        // Before there are requests: it makes tasks of its own, which may not be done where URLSession calls.
        #if canImport(FoundationNetworking)
        _ = TaskReflection.current
        #endif
        // A cache on the way changes the order in which requests are seen on Linux.
        configuration.urlCache = nil
        let session = AdaptedSession(transport, isInPlace: inPlace, configuration: configuration)
        configuration.protocolClasses = [SessionProtocols.shared.add(session)]
        return configuration
    }

    /// A copy, which is not that of a background session: the system would not ask our classes there, and go to the network.
    private var foreground: URLSessionConfiguration {
        #if !canImport(FoundationNetworking)
        if self.identifier != nil {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = self.httpAdditionalHeaders
            configuration.timeoutIntervalForRequest = self.timeoutIntervalForRequest
            configuration.timeoutIntervalForResource = self.timeoutIntervalForResource
            configuration.httpShouldSetCookies = self.httpShouldSetCookies
            configuration.httpCookieAcceptPolicy = self.httpCookieAcceptPolicy
            return configuration
        }
        #endif
        return self.copy() as? URLSessionConfiguration ?? .ephemeral
    }
}
