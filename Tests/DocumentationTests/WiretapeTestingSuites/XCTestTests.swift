// snippet: xctest
import WiretapeTesting
import XCTest

final class ShopXCTests: XCTestCase {
    func testListsPets() async throws {
        try await withCassette("shop/listsPets") {
            let pets = try await PetShop().pets()
            XCTAssertEqual(pets.count, 2)
        }
    }
}
// snippet end
