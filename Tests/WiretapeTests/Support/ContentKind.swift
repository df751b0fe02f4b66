@testable import Wiretape

/// The kinds of requests whose answers are kept whole: a test of one holds for the other.
enum ContentKind: CaseIterable, Sendable {
    case data, download

    func request(_ session: HTTPSession, _ url: String = "http://a.test/a", headers: HTTPSession.Headers? = nil) -> any HTTPSession
        .ContentRequest
    {
        switch self {
        case .data: session.request(url, headers: headers)
        case .download: session.download(url, headers: headers)
        }
    }
}
