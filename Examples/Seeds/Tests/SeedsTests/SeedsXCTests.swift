import Foundation
import Seeds
import Wiretape
import WiretapeTesting
import XCTest

final class SeedsXCTests: XCTestCase {
    func testForm() async throws {
        try await withCassette("xctest/form", ignoring: [.host, .port]) {
            let receipt = try await PetUploads(Origin.url).inRequest(HandMadeForm(fields: [("name", "초코")]))
            XCTAssertEqual(receipt.parts.map(\.name), ["name"])
        }
    }

    /// Without `async`: the closure waits for the completion handler.
    func testCompletionHandler() throws {
        try withCassette("xctest/pets", ignoring: [.host, .port]) {
            let done = self.expectation(description: "pets")
            try Network.shared.pets(at: Origin.url, queue: .global()) { result in
                XCTAssertEqual((try? result.get())?.count, 2)
                done.fulfill()
            }
            self.wait(for: [done], timeout: 30)
        }
    }
}
