// What is asked of a distribution, in the device's memory, so that a recorded graph serves every request.
#pragma once

struct Filters {
    float temperature;         // > 0
    float filter_temperature;  // what top_p and min_p see: temperature, or 1 when it comes last
    float top_p;               // in (0,1]; 1: off
    float min_p;               // in [0,1); 0: off
    int top_k;                 // 0: off
};
