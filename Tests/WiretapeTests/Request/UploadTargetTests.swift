import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct UploadTargetTests {
    @Test func bothKindsTakeTheContent() throws {
        let plain = UploadTarget("http://a.test/", .put, ["A": "1"], nil)
        let converted = UploadTarget(URLRequest(url: try "http://a.test/".asURL()))
        for (target, method) in [(plain, "PUT"), (converted, "GET")] {
            let source = target.source({ RequestContent(body: .data(Data("abc".utf8))) }, isBlocking: true, spoolFolder: nil)
            #expect(source.isBlocking)
            let draft = try source.make()
            #expect(draft.request.body.size == 3 && draft.request.method == method)
        }
    }
}
