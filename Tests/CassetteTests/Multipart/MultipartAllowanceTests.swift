import Testing

@testable import CassetteModel

struct MultipartAllowanceTests {
    @Test func givesUpToItsLimits() {
        var limits = MultipartLimits()
        limits.parts = 1
        limits.allHeaderSections = 10
        limits.surroundings = 5
        let allowance = MultipartAllowance(limits)
        #expect(allowance.takePart())
        #expect(!allowance.takePart())
        #expect(allowance.takeHeaders(10))
        #expect(!allowance.takeHeaders(1))
        #expect(allowance.takeSurroundings(5))
        #expect(!allowance.takeSurroundings(1))
    }
}
