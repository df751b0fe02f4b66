import Testing

@testable import CassetteTools

@Suite struct VolatileFieldsTests {
    @Test func namesAreInLowerCase() {
        #expect(VolatileFields.names.allSatisfy { $0 == $0.lowercased() })
        #expect(VolatileFields.contains("date") && VolatileFields.contains("server-timing") && VolatileFields.contains("x-request-id"))
        #expect(!VolatileFields.contains("etag") && !VolatileFields.contains("content-type") && !VolatileFields.contains("set-cookie"))
    }
}
