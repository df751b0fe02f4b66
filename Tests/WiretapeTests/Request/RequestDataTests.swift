import Foundation
import Testing

@testable import Wiretape

@Suite struct RequestDataTests {
    @Test func anExchangeBeginsWithoutWhatTheLastOneBrought() throws {
        var data = RequestData()
        data.start = .seconds(1)
        data.body = Data("x".utf8)
        data.trailers = ["A": "1"]
        data.isRedirect = true
        data.isPaused = true
        data.response = HTTPResponse(url: URL(fileURLWithPath: "/"), status: 302)
        let request = TransportRequest.make("GET", "http://a.test/")
        data.begin(request, at: .seconds(3))
        #expect(data.body.isEmpty && data.trailers.isEmpty && !data.isRedirect && !data.isPaused && data.response == nil)
        #expect(data.attempt(nil).request?.url == request.url)
        #expect(data.metrics.metrics.hops.map(\.sentAt) == [.seconds(2)])
    }

    @Test func directionsAreCountedApart() {
        var data = RequestData()
        data[.upload].advance(by: 2)
        data[.download].advance(by: 3)
        #expect(data.upload.progress.completedUnitCount == 2)
        #expect(data[.download].progress.completedUnitCount == 3)
    }
}
