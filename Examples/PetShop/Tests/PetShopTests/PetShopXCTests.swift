import PetShop
import WiretapeTesting
import XCTest

/// The same with XCTest.
final class PetShopXCTests: XCTestCase {
    func testListsPets() async throws {
        try await withCassette("shop/listsPets") {
            let pets = try await PetShop(url: Origin.url).pets()
            XCTAssertEqual(pets.count, 3)
        }
    }
}
