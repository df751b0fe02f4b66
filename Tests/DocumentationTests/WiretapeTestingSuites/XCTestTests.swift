// snippet: xctest
import WiretapeTesting
import XCTest

nonisolated final class ShopXCTests: XCTestCase {
    func testListsPets() async throws {
        try await withCassette("shop/listsPets") {
            let pets = try await PetShop().pets()
            XCTAssertEqual(pets.count, 2)
        }
    }
}
// snippet end
